package attack

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"fairgate/fairness"
	"fairgate/limiter"
	"fairgate/profiles"
)

// Edit changes the profile while the run goes on: edit is given a copy, which is checked and then put into force at one moment. An error,
// of edit or about what it made, changes nothing. What a run cannot change under way is refused: which clients there are, the seed, the
// duration and the warm-up.
func (r *Run) Edit(edit func(*profiles.Profile)) error {
	r.editing.Lock()
	defer r.editing.Unlock()
	was := r.profile.Load()
	p := was.Clone()
	edit(p)
	if reflect.DeepEqual(was, p) {
		return nil
	}
	if err := p.Check(); err != nil {
		return err
	}
	specs := expand(p.Clients)
	before := expand(was.Clients)
	if err := fixed(was, p, before, specs); err != nil {
		return err
	}
	if r.target != nil {
		if err := r.target.fixed(was, p); err != nil {
			return err
		}
	}
	return r.apply(p, specs, describeChange(was, p, before, specs))
}

// apply puts a profile into force. The limiter comes first, since it alone may refuse.
func (r *Run) apply(p *profiles.Profile, specs []profiles.Client, what string) (err error) {
	var cfg limiter.Config
	r.handler.Do(func(lim limiter.Limiter, now time.Duration) {
		if err = reconfigure(r.options.Store, lim, now, p); err != nil {
			return
		}
		cfg = lim.Config()
		r.handler.SetServiceTime(p.Service.Time)
		r.trip.Store(int64(p.Service.RoundTrip))
		r.profile.Store(p)
		r.count(func(t *fairness.Tally) {
			t.Change(now, what, r.describe(cfg, p.Service, specs), r.tallyClients(cfg, p.Service, specs))
		})
	})
	if err != nil {
		return err
	}
	r.beat.set(orderDecides(cfg, specs))
	r.tellShadows(func(s *Shadow, now time.Duration) {
		_ = s.change(now, what, p, specs) // one that cannot follow stays as it was: nobody obeys it
	})
	for i, l := range r.lanes {
		if reflect.DeepEqual(l.spec(), specs[i]) {
			continue
		}
		r.handler.Join(limiterClient(specs[i]))
		l.change(specs[i])
	}
	return nil
}

// fixed refuses what a run cannot change under way.
func fixed(was, p *profiles.Profile, before, after []profiles.Client) error {
	name := func(c profiles.Client) string { return c.Name }
	switch {
	case p.Seed != was.Seed:
		return fmt.Errorf("the seed cannot change while the run goes on: start another with --seed %d", p.Seed)
	case p.Store != was.Store:
		return fmt.Errorf("the store cannot change while the run goes on: start another with --store %s", p.Store.Name())
	case p.Duration != was.Duration || p.WarmUp != was.WarmUp:
		return fmt.Errorf("duration and warm_up cannot change while the run goes on")
	case !slices.Equal(names(before, name), names(after, name)):
		return fmt.Errorf("clients cannot come, go or change their names while the run goes on: give one a start or a stop")
	}
	return nil
}

func names(clients []profiles.Client, name func(profiles.Client) string) []string {
	all := make([]string, len(clients))
	for i, c := range clients {
		all[i] = name(c)
	}
	return all
}

// spec is what the lane's client does at present.
func (l *lane) spec() profiles.Client {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.client.Spec()
}

// change gives the lane's client new settings.
func (l *lane) change(spec profiles.Client) {
	l.mu.Lock()
	now := l.run.now()
	gaveUp := l.client.Change(now, spec)
	l.run.count(func(t *fairness.Tally) {
		for range gaveUp {
			t.Ended(now, l.index, fairness.GaveUp)
		}
	})
	l.mu.Unlock()
	l.aim(spec)
	l.rouse()
}

// NextPolicy goes on to the next policy (by 1), or back (by −1), that can work with the algorithm and with what else the limiter is set to. The
// error says why there is none.
func (r *Run) NextPolicy(by int) error {
	if r.target != nil {
		return errForeignPolicy
	}
	return nextPolicy(r.profile.Load().Limiter, by, r.Edit)
}

// nextPolicy tries one policy after the other, in their order, until edit accepts one.
func nextPolicy(cfg limiter.Config, by int, edit func(func(*profiles.Profile)) error) error {
	policies := limiter.Policies
	cfg = cfg.WithDefaults()
	at := slices.Index(policies, cfg.Policy)
	var last error
	for step := 1; step < len(policies); step++ {
		next := policies[((at+by*step)%len(policies)+len(policies))%len(policies)]
		if last = limiter.Compatible(next, cfg.Algorithm); last != nil {
			continue
		}
		if last = edit(func(p *profiles.Profile) { p.Limiter.Policy = next }); last == nil {
			return nil
		}
	}
	return last
}

// describeChange says in words what differs: "policy global → per-client, rate 1000/s → 1100/s".
func describeChange(was, is *profiles.Profile, before, after []profiles.Client) string {
	var said []string
	a, b := was.Limiter.WithDefaults(), is.Limiter.WithDefaults()
	// A burst that only follows its rate is not worth a word.
	if was.Limiter.Burst == 0 && is.Limiter.Burst == 0 {
		b.Burst = a.Burst
	}
	if was.Limiter.Client.Burst == 0 && is.Limiter.Client.Burst == 0 {
		b.Client.Burst = a.Client.Burst
	}
	said = append(said, differences("", reflect.ValueOf(a), reflect.ValueOf(b))...)
	said = append(said, differences("service ", reflect.ValueOf(was.Service), reflect.ValueOf(is.Service))...)
	for i := range after {
		b, a := before[i], after[i]
		if b.Stop != a.Stop && (b.Stop == 0 || a.Stop == 0) { // a client that is turned off has a stop, and one that is turned on has none
			said = append(said, a.Name+map[bool]string{true: " on", false: " off"}[a.Stop == 0])
			b.Stop = a.Stop
		}
		said = append(said, differences(a.Name+" ", reflect.ValueOf(b), reflect.ValueOf(a))...)
	}
	const most = 6
	if len(said) > most {
		said = append(said[:most], fmt.Sprintf("and %d more", len(said)-most))
	}
	return strings.Join(said, ", ")
}

// differences are the fields that differ, each in words.
func differences(prefix string, was, is reflect.Value) (said []string) {
	for i := range was.NumField() {
		field := was.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		x, y := was.Field(i), is.Field(i)
		if reflect.DeepEqual(x.Interface(), y.Interface()) {
			continue
		}
		name := prefix + words(field.Name)
		if _, plain := x.Interface().(fmt.Stringer); !plain && x.Kind() == reflect.Struct {
			said = append(said, differences(name+" ", x, y)...)
			continue
		}
		if field.Name == "Attempts" {
			said = append(said, fmt.Sprintf("%s %s → %s", name, attempts(x.Int()), attempts(y.Int())))
			continue
		}
		said = append(said, fmt.Sprintf("%s %s → %s", name, value(x), value(y)))
	}
	return said
}

// attempts is a number of retries in words.
func attempts(n int64) string {
	if n == profiles.Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

// words is a field's name as one says it: "MaxInFlight" is "max in flight".
func words(field string) string {
	var b strings.Builder
	for i, r := range field {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return strings.ToLower(b.String())
}

// value is a setting as one writes it.
func value(v reflect.Value) string {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return "none"
		}
		return value(v.Elem())
	case reflect.Slice, reflect.Map:
		if v.Len() == 0 {
			return "none"
		}
		if v.Kind() == reflect.Slice && v.Len() > 4 {
			return fmt.Sprintf("%d of them", v.Len())
		}
	case reflect.Bool:
		if v.Bool() {
			return "on"
		}
		return "off"
	}
	if r, ok := v.Interface().(limiter.Rate); ok && r.IsZero() {
		return "none"
	}
	if s := fmt.Sprint(v.Interface()); s != "" {
		return s
	}
	return "none"
}
