package profiles

import (
	"bytes"
	"strings"
	"time"

	"fairgate/limiter"
)

// Parse reads a profile. file is the name that errors and Source say, and trace
// files are looked for beside it. Every error is an *Error.
func Parse(file string, data []byte) (*Profile, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff")) // some editors begin a file with it
	p, err := parse(newSource(file, data), data)
	if err != nil {
		return nil, err
	}
	p.Source = file
	return p, nil
}

func parse(src *source, data []byte) (*Profile, error) {
	root, err := parseTree(src, data)
	if err != nil {
		return nil, err
	}
	r := reader{}
	p := r.base(root)
	p.Name = nameOf(src.name)
	r.places = p.places
	profileKeys.read(&r, root, "", p)
	if r.err != nil {
		return nil, r.err
	}
	if p.Title == "" {
		p.Title = p.Name
	}
	e := p.check()
	if e == nil {
		e = p.checkTimes()
	}
	if e != nil {
		if e = p.locate(e); e.Line == 0 {
			e.File = src.name
		}
		return nil, e
	}
	if err := p.checkLesson(); err != nil {
		return nil, err
	}
	return p, nil
}

// defaults is a profile before anything was read. A burst stays unsaid, so that
// it follows the rate when that is changed.
func defaults() *Profile {
	return &Profile{
		Duration: 30 * time.Second,
		Seed:     1,
		Limiter: limiter.Config{
			Policy: limiter.Global, Algorithm: limiter.AlgorithmTokenBucket, Rate: limiter.PerSecond(100),
			Refill: limiter.Greedy, Order: limiter.StartTime, Routing: limiter.Random,
			Inherit: limiter.Proportional, RetryAfter: limiter.RetryExact,
		},
		Store:   Store{OnError: ClosedWithoutStore},
		Service: Service{Time: 2 * time.Millisecond, RoundTrip: time.Millisecond},
		places:  make(map[string]position),
	}
}

// locate puts an error of check where its value stands, or if that was never
// read, where the nearest thing around it does.
func (p *Profile) locate(e *Error) *Error {
	for path := e.Path; path != ""; {
		if at, ok := p.places[path]; ok {
			return at.place(e)
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			break
		}
		path = path[:cut]
	}
	return e
}
