package fairness

import "time"

// account is what is counted of one client in one stretch: integers only, so that
// accounts add up exactly, in any order.
type account struct {
	begun    int64 // requests
	sent     int64 // attempts
	admitted int64
	rejected int64
	failed   int64
	served   int64 // requests that ended well
	gaveUp   int64 // requests that ended badly
	tokens   int64 // cost of what was admitted
	never    int64 // rejections that no wait would have cured
	onRetry  int64 // admissions of retries

	kept, broken, early int64 // retries by the promise of the refusal before: see Promises

	firstOK, lastOK time.Duration // first and last admission; meaningful while admitted > 0
	gap             time.Duration // longest time between two admissions
	losing          time.Duration // when the present row of rejections began; −1: there is none
	dark            time.Duration // longest time from the first to the last of a row of rejections
	returning       time.Duration // sum over admissions: from the decision until the client had it
	attainable      float64       // admissions that a fair sharer could have given it, pulse by pulse; see attainable.go

	spread spread
}

// spread are the distributions of one client, each allocated when it is first needed.
type spread struct {
	admitted, rejected *histogram // latency: sent to seen
	queued             *histogram // wait in a queue
	needed             *histogram // needed wait of rejections
	told               tolds
	excess, shortfall  *histogram // of told waits: what was told above the needed wait, and below it; not kept for windows
}

// observe counts the distributions of an outcome that a window shows too.
func (s *spread) observe(o *Outcome) {
	latency := o.Seen - o.Sent
	switch o.Kind {
	case Admitted:
		record(&s.admitted, latency)
	case Rejected:
		record(&s.rejected, latency)
		if o.Needed > 0 && o.Needed != Never {
			record(&s.needed, o.Needed)
		}
		if o.Told > 0 {
			s.told.add(o.Told)
		}
	}
	if o.Queued {
		record(&s.queued, o.Waited)
	}
}

// histograms are all of them, in one order.
func (s *spread) histograms() [6]**histogram {
	return [...]**histogram{&s.admitted, &s.rejected, &s.queued, &s.needed, &s.excess, &s.shortfall}
}

func (s *spread) merge(o *spread) {
	into := s.histograms()
	for i, from := range o.histograms() {
		if *from == nil || (*from).n == 0 {
			continue
		}
		if *into[i] == nil {
			*into[i] = new(histogram)
		}
		(*into[i]).merge(*from)
	}
	s.told.merge(&o.told)
}

// subtract takes away what was merged before.
func (s *spread) subtract(o *spread) {
	from := s.histograms()
	for i, h := range o.histograms() {
		if *h != nil {
			(*from[i]).subtract(*h)
		}
	}
	s.told.subtract(&o.told)
}

func (s *spread) reset() {
	for _, h := range s.histograms() {
		if *h != nil {
			(*h).reset()
		}
	}
	s.told.reset()
}

// observe counts an outcome decided in the account's stretch. honoured: it is a retry that came because it was told to.
func (a *account) observe(o *Outcome, cost int64, honoured bool) {
	switch o.Kind {
	case Admitted:
		a.losing = -1
		if a.admitted == 0 {
			a.firstOK, a.lastOK = o.Decided, o.Decided
		} else if o.Decided > a.lastOK {
			a.gap = max(a.gap, o.Decided-a.lastOK)
			a.lastOK = o.Decided
		}
		a.admitted++
		a.tokens += cost
		a.returning += o.Seen - o.Decided
		if o.Retry {
			a.onRetry++
		}
	case Rejected:
		if a.losing < 0 || a.rejected == 0 {
			a.losing = o.Decided
		}
		a.dark = max(a.dark, o.Decided-a.losing)
		a.rejected++
		switch {
		case o.Needed == Never:
			a.never++
		case o.Needed <= 0 || o.Told <= 0:
		case o.Told >= o.Needed:
			record(&a.spread.excess, o.Told-o.Needed)
		default:
			record(&a.spread.shortfall, o.Needed-o.Told)
		}
	default:
		a.failed++
	}
	if o.Retry && o.Promised > 0 && o.Kind != Failed {
		switch {
		case o.Sent < o.Promised:
			a.early++
		case !honoured:
		case o.Kind == Admitted:
			a.kept++
		default:
			a.broken++
		}
	}
	a.spread.observe(o)
}

// add appends the stretch after this one, but for its distributions.
func (a *account) add(next *account) {
	switch {
	case next.admitted == 0:
	case a.admitted == 0:
		a.firstOK, a.lastOK, a.gap = next.firstOK, next.lastOK, next.gap
	default:
		a.gap = max(a.gap, next.gap, next.firstOK-a.lastOK)
		a.lastOK = next.lastOK
	}
	a.dark = max(a.dark, next.dark) // a row across the change is counted as two
	a.begun += next.begun
	a.sent += next.sent
	a.admitted += next.admitted
	a.rejected += next.rejected
	a.failed += next.failed
	a.served += next.served
	a.gaveUp += next.gaveUp
	a.tokens += next.tokens
	a.never += next.never
	a.onRetry += next.onRetry
	a.kept += next.kept
	a.broken += next.broken
	a.early += next.early
	a.returning += next.returning
	a.attainable += next.attainable
}

// longestGap is the longest time without an admission between two moments, both counted as edges.
func (a *account) longestGap(from, to time.Duration) time.Duration {
	if a.admitted == 0 {
		return to - from
	}
	return max(a.gap, a.firstOK-from, to-a.lastOK)
}

// stretch is the time between two changes, and what was counted in it.
type stretch struct {
	from     time.Duration // it ends where the next begins
	warm     bool          // it lies in the warm-up, and only its balance is used
	merged   int           // it was so many, each between two changes; 0 counts as 1
	load     load
	accounts []account
	by       []int64 // rejections by reason: client × reasons
}

// append makes one stretch of two neighbours.
func (s *stretch) append(next *stretch) {
	s.merged = max(s.merged, 1) + max(next.merged, 1)
	s.load.add(&next.load)
	for i := range s.accounts {
		s.accounts[i].add(&next.accounts[i])
		s.accounts[i].spread.merge(&next.accounts[i].spread)
	}
	for i, n := range next.by {
		s.by[i] += n
	}
}
