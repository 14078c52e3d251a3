// Package tui is the live dashboard: it draws immutable snapshots of a run, ten times a second, and turns keys into commands. It
// decides nothing about limits and measures nothing.
//
//	          every 100 ms                      per frame
//	Source ──── Snapshot ───► Model ──► layout ──► canvas ──► text
//	   ▲                       │         sizes      cells
//	   └─────── Command ◄──────┘ keys
//
// A [Source] is the run: live, or a simulation played back. [Run] shows a [Model] of it until the user leaves or the run is over, and
// leaves the terminal as it was, whatever happened.
//
// # How a frame is made
//
// The screen is cut into rectangles (layout.go) from its size and the number of clients alone, so that nothing jumps while the figures
// change. Each part draws into a pane, its rectangle of one canvas of cells (canvas.go), which cuts off whatever would reach
// beyond. So the invariant holds by construction: a frame has exactly as many lines as the terminal, each exactly as wide.
//
// A cell carries an ink, which is a meaning and no colour (look.go); the look gives each ink its escape sequence once. There are
// two colours: blue is what was admitted and what is well, orange is what was refused and what is wrong, and each is also said by a
// character or a number, so that the screen is complete without them.
//
// # What the overview says
//
// Two headlines contradict each other: what monitoring sees, the sum against the limit, and what the clients see. Below is the reason: the
// bar of each client shows, over all that it asks for, how much was admitted (█) and refused (░), with a mark (│) up to where it was
// entitled. A starved client is a nearly empty bar with its mark far to the right; the one that holds the capacity is filled beyond its mark.
// On a scale common to all, a hog would make every other bar vanish, which is the trap; v shows it.
//
// # The views
//
// Title, headlines, advice and keys stay; what is between them is a view (view.go): the overview, the clients in numbers (clients.go, in an order
// and through a filter: order.go), Retry-After with the herd (retryview.go), the limiter from inside (limiterview.go), shadows beside the
// policy in force (compareview.go), and what happened (events.go), which also holds for each change the ten seconds before and after it
// against each other; the rule above the advice says so while it is new.
//
// One client is marked (choose.go), and some keys act on it. A form (form.go) sets anything to an exact value. A lesson (lesson.go) takes the
// place of the advice: what to do is then for the class to find out. It stands beside the picture where the screen is wide, else below it.
//
// # What a key may do
//
// Keys of what the source cannot carry out are off ([Tuner]), and the help and the footer, which are made of the bindings, do not show them. A
// command that cannot be carried out leaves its error in the footer until the next key.
//
// # What Update must not do
//
// Update only remembers. Snapshots are taken, commands carried out, files written and answers filled by Bubble Tea's commands, and there is no
// message per hit: View costs the same at 10 and at 20,000 requests a second.
package tui
