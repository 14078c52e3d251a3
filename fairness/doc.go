// Package fairness counts what happens in a run against a rate limiter and says how fair it was.
//
// # What is asked
//
// Monitoring sees one number: so many admitted per second, of so many allowed. It is at its best when
// the limiter is busiest, and says nothing about who got the capacity. This package answers the other
// question, per client: what did it ask for, what was it entitled to, what did it get?
//
//	           asks      entitled to          gets        satisfaction
//	batch      5000/s    800/s ─┐             964/s       1.21
//	web         100/s    100/s  ├─ together    10/s       0.10   ◄ starved
//	mobile       50/s     50/s  │  the limit    5/s       0.09   ◄ starved
//	sync         50/s     50/s ─┘              21/s       0.42   ◄ starved
//
// # The measures
//
// A client's demand is the requests that it began, and those still pending when the stretch began, per second.
// Retries are no demand: a client that hammers would otherwise earn by it. A closed loop, which
// waits for an answer before it asks again, asks for what its workers would do unhindered.
//
// Its entitlement is its weighted max-min fair share ([MaxMin]): who asks for less than an even part gets all of it, and
// what is left over is shared among the others in the same way. It is counted in tokens, since an attempt may cost
// several, capped by a limit that the policy gives the client alone, and reported in requests.
//
// Its satisfaction is what was admitted over what it was entitled to. It may exceed 1: then it lives on what others did
// not get, or on the burst that was saved up.
//
// The [Jain] index says in one number how even the satisfactions are. It is over satisfactions, not over rates, so that nobody
// looks poor for asking for little; and since an index over many hides one that starves, the smallest satisfaction stands beside it.
//
// The longest gap is the longest time without an admission, the stretch's edges counted. Averages forgive a
// limiter that lets a client in once a minute, all at once; the gap does not.
//
// The overshoot is by how much admissions went beyond limit × time + burst in the worst interval: whether the limiter does
// at all what it is there for.
//
// Latencies of admissions and of rejections are never put together: a rejection is quick, and the more there are the better
// one median over both would look.
//
// # The verdict
//
// A client is starved when its satisfaction is below 0.5 while another's is at least twice as high; a stretch is starved
// when a client is, contended when one is below 0.9, and fair otherwise. Three things must not be taken for unfairness:
//
//   - Chance. With few requests a fair limiter too may miss the mark. A client that could expect fewer than ten admissions
//     proves nothing, and its shortfall makes the verdict unknown; above that the shortfall must be
//     two standard deviations beyond the threshold ([Judge]).
//   - Bursts. A client that asks for ten seconds' worth in one moment is entitled to all of it over ten seconds,
//     but nobody could admit it then. It counts as starved only against what was attainable: the
//     sum, over short pulses, of its max-min share among those who asked in that pulse. It may well be contended.
//   - Answers under way. What was admitted and is not back yet is counted by how long answers take.
//
// # From the verdict to its cause
//
// [Diagnose] goes on where the verdict ends. It finds who holds most beyond its entitlement (the culprit), who goes short (the victims), and
// by the policy in force and by which limit refused, what lets that happen (the cause); each cause has its cure. All it says it says with the
// figures, and where they do not carry it, as with too few events or with a closed loop whose demand is a model, it says that.
//
// Beside it stand the measures of what clients do about a refusal. [Promises] hold what Retry-After told against what came of it. A [Herd] is a
// hundred milliseconds in which many came back because they had been told the same moment. [Goodput] tells first attempts from
// retries, which multiply load before they multiply success. A [Recovery] is the time from a cure, or from the moment that a hog
// fell silent, until everybody got their part for a whole second.
//
// Two questions can be answered before anything is sent. [Gate] says whether limits can be fair to so many clients at all: buckets of
// one's own are, while the cap holds their sum. [Predict] says how much a limit refuses that is, on average, not reached: requests at random come
// in clumps, and a limit cut into shards meets more of them.
//
// # How it is counted
//
// A [Tally] takes events in nearly the order of time and keeps, for each:
//
//	          Sent, Observe, Ended, Missed, Change
//	                         │
//	     ┌───────────────────┼──────────────────────┐
//	accounts             timeline               window (live only)
//	one per client      600 steps that          128 slots of 100 ms
//	and stretch         fold as they grow       per client, in a ring
//	     │                   │                      │
//	  Report ◄───────────────┘              Snapshot, ten times a second
//
// All counts are integers, so that their sums do not depend on order. A stretch lies between two changes of the limit or of
// clients; the report's figures cover all of them after the warm-up, with limits averaged by time. An
// outcome belongs to the time at which it was decided. Two sums hold in every stretch, whatever was under way at its edges:
//
//	attempts = admitted + rejected + errors + in flight
//	requests = served + given up + unfinished
//
// where attempts and requests are those that began in it and those that it found under way. So what is under way at a change counts in both
// stretches, and attempts are requests + retries + (attempts in flight − requests pending) at the stretch's beginning.
//
// A load that was not what it was planned to be proves little. Where less than 0.95 of the plan was sent, or something was sent half a second late, no
// diagnosis is certain, and the verdict is unknown where the missing load could have changed it. In the first second after a change there is no verdict,
// and for two more none but fair or idle: what was pending before still counts as demand.
//
// Memory does not grow with the length of the run, nor does a client cost more than some hundred bytes unless it is shown live.
//
// The package is pure: time is an argument, and there is no clock, no lock and no goroutine in it. A quantity that does not exist, such
// as the median of nothing, is [None] and becomes null in JSON.
package fairness
