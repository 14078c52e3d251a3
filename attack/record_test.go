package attack

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"

	"fairgate/limiter"
)

// TestWhatWasRecordedIsWhatWasCounted in each encoding, as vegeta reads it.
func TestWhatWasRecordedIsWhatWasCounted(t *testing.T) {
	for _, file := range []string{"a.gob", "a.bin", "a.JSON", "b/c.csv"} {
		synctest.Test(t, func(t *testing.T) {
			var out bytes.Buffer
			recorder, err := NewRecorder(&out, file)
			if err != nil {
				t.Fatal(err)
			}
			r := live(t, builtin(t, "starvation", 300*time.Millisecond), Options{Record: recorder.Record})
			if err := r.Wait(); err != nil {
				t.Fatal(err)
			}
			if err := recorder.Close(); err != nil {
				t.Fatal(err)
			}
			type counts struct{ admitted, rejected int64 }
			got := map[string]counts{}
			decode := vegeta.DecoderFor(&out)
			if decode == nil {
				t.Fatalf("%s: vegeta does not know this", file)
			}
			for {
				var res vegeta.Result
				if err := decode(&res); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %v", file, err)
				}
				c := got[res.Attack]
				switch res.Code {
				case http.StatusOK:
					c.admitted++
				case http.StatusTooManyRequests:
					c.rejected++
					if res.Headers.Get("Retry-After") == "" || len(res.Body) == 0 {
						t.Fatalf("%s: a rejection without its answer: %+v", file, res)
					}
				default:
					t.Fatalf("%s: %+v", file, res)
				}
				got[res.Attack] = c
			}
			for _, c := range r.Report().Clients {
				if want := (counts{c.Admitted, c.Rejected}); got[c.Name] != want {
					t.Errorf("%s, %s: recorded %+v, counted %+v", file, c.Name, got[c.Name], want)
				}
			}
		})
	}
}

// TestWhatTheEndCutIsNotRecorded, over either transport: it is in flight, and no error of the service.
func TestWhatTheEndCutIsNotRecorded(t *testing.T) {
	for _, transport := range []string{TransportMemory, TransportLoopback} {
		p := constant(t, limiter.PerSecond(200), time.Minute)
		p.Service.Time = 30 * time.Second // nobody is answered before the end
		var recorded atomic.Int64
		r := live(t, p, Options{Transport: transport, Record: func(*vegeta.Result) { recorded.Add(1) }})
		for r.Snapshot().Aggregate.Attempts < 5 {
			time.Sleep(time.Millisecond)
		}
		r.Stop()
		if err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		if a := r.Report().Aggregate; recorded.Load() != 0 || a.InFlight != a.Attempts || a.ErrorCount != 0 {
			t.Errorf("%s: %d recorded; %d of %d in flight, %d errors", transport, recorded.Load(), a.InFlight, a.Attempts, a.ErrorCount)
		}
	}
}

func TestARecordingThatFails(t *testing.T) {
	if _, err := NewRecorder(io.Discard, "results.xml"); err == nil {
		t.Error("results.xml is taken")
	}
	recorder, err := NewRecorder(full{}, "a.csv")
	if err != nil {
		t.Fatal(err)
	}
	for range 10_000 {
		recorder.Record(&vegeta.Result{Attack: "web", Code: 200})
	}
	if err := recorder.Close(); !errors.Is(err, errFull) {
		t.Errorf("the disk was full, and Close says %v", err)
	}
}

var errFull = errors.New("no space left on device")

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errFull }
