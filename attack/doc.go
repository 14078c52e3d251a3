// Package attack sends emulated clients against a limiter, live through vegeta or in virtual time, and
// counts what comes of it.
//
// # The way of a hit
//
//	           Send                s + there             admitted: + service        + back
//	Client ────────────► on the way ────────► Limiter ───────────────────► Release ────────► Observe
//	  ▲                                         │ │ ▲ Settle, Cancel                            │
//	  │                               rejected  │ └─┴── its client's queue                      │
//	  │                                         └──────────────────────────────────────────────►│
//	  └───────────────────── the answer: served, to be retried after a wait, or given up ───────┘
//
// An attempt that is sent at s reaches the limiter at s + there, where there is half of the round trip (rounded down). If it
// is admitted, at once or out of a queue, it holds its slot for the service time; its client sees the answer another half (back: what
// there left over) later. A refused attempt is seen back after it was refused. An attempt that still waits in a queue when its request's deadline
// comes is taken out of it: the client stops waiting at that very moment, and the attempt counts as an error. An answer that is on its way
// at the deadline still arrives, but as too late: its request has given up.
//
// What falls on one nanosecond goes in this order: slots are released; what waits is handed out, and what has waited too
// long taken back; answers are observed; attempts are sent, by client in the profile's order; attempts arrive, by client and then by number.
// What falls on the end of the run, or after it, does not count.
//
// # Two drivers, one client
//
// A [Client] is a pure state machine: Next says when it sends, Send takes what is due, Observe tells what came of it, Change
// gives it new settings. It has no clock, so that the two drivers of time cannot differ in what clients do:
//
//   - the live run waits for the real clock inside a vegeta.Pacer of each client;
//   - the simulation ([Simulation], [Simulate]) jumps from event to event.
//
// Both hand the same attempts to the same limiter and the same outcomes to the same fairness.Tally. The invariant that the tests hold them
// to: for one profile and one seed, the two tallies are equal.
//
// # Files
//
// client.go and arrivals*.go, retry*.go, rand.go are the client; setup.go translates a profile for limiter and tally. simulat*.go is
// virtual time: simulation.go chooses what happens next, simulation_way.go lets it happen, simulation_playback.go shows it at some
// times life's speed. run.go begins and ends a live run; pacer.go is the live side of one client, memory.go and loopback.go its
// transports, metronome*.go the fineness of its timers, edit.go changes while it runs, picture.go what it shows, record.go what it keeps for other
// tools, shadow_live.go its shadows, store.go where it counts when that is not this process; gate.go orders what falls on one nanosecond, for tests. recording*.go reads
// what record.go or vegeta alone has kept, recorded.go says how fair that was, replay.go makes clients of it. compare*.go and simulate_repeat.go run many
// simulations of one profile, shadow.go asks other policies about the same arrivals.
package attack
