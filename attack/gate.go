package attack

// moment is what happens at an instant, in the order in which things that fall on one instant happen.
type moment uint8

const (
	atRelease moment = iota // a slot becomes free
	atSettle                // what waits and is due is handed out
	atLeave                 // an attempt has waited until its request's deadline
	atObserve               // a client sees an answer
	atSend                  // a client sends
	atArrive                // an attempt reaches the limiter
)

// A gate holds up whatever falls on one instant and lets it through in order: by moment first; of one moment, attempts in the order in which
// they passed their last one, and clients that send in the order of the profile. An attempt that is being sent has no number yet. A real clock has no two events at one instant that anybody could tell apart, so only tests have a gate, where time is
// virtual and a run must agree with a simulation attempt for attempt.
type gate interface {
	pass(m moment, client int, number uint64)
}

func (r *Run) pass(m moment, client int, number uint64) {
	if r.options.gate != nil {
		r.options.gate.pass(m, client, number)
	}
}
