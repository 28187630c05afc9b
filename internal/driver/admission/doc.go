// Package admission decides when jobs that share a budget may run.
//
//	all := admission.New(func() uint64 { return budget })
//	turn, err := all.Enter(ctx, admission.Request{Bytes: needed})
//	defer turn.Leave()
//
// A [Level] is a budget, and levels below it share its budget. A job declares how many
// bytes it needs at least, and how many it is expected to use. It is admitted when what all jobs that
// run are expected to use fits the budgets of its level and of those above it: jobs that have only what
// they need at least take much longer. Waiting jobs are admitted in the order in which they
// came. A job overtakes only jobs that wait for a level that is not its own.
//
// A job that failed because others used the memory that it lacked enters again, to run
// alone at a level: see [Request.Alone].
//
// # Why jobs do not block each other forever
//
// A job waits only in [Level.Enter], before it has a turn, and a job with a turn waits for
// no other. So every turn ends, and then the first job in the queue is admitted: a job that
// runs alone at a level may need more than the budget. Callers must keep the first half of
// that: a job releases what it holds before it enters again. If a job with a turn does wait for one
// without, nothing begins or ends: after [Request.Stalled] the one that waits is admitted when the
// bytes fit that all need at least.
package admission
