// Package ranks connects numbered processes, the ranks of a group, by sockets.
//
//	g, err := ranks.Open(ctx, ranks.Config{Rank: rank, Size: 4, Address: "unix:/run/job/ranks", Protocol: "tables 1"})
//	defer g.Close()
//	answers, err := g.Exchange(ctx, messages) // messages[i] to rank i, answers[i] from rank i
//
// Rank 0 listens at the address until all ranks have joined; the others dial it and then each
// other. Each pair of ranks has two connections: one for short messages, which a goroutine
// always reads, and one for data, which [Group.Data] returns.
//
// # Failures
//
// If the connection of a rank ends without a farewell, the rank has failed. The first rank to notice
// reports it to the others. So does [Group.Fail] with an error of this rank: of its context, of
// its memory. Then the group is down on all ranks: every call returns the first error, which
// names the rank that failed as a [RankError], and all connections are closed. A group is not
// repaired; the caller opens another one.
//
// A process that is killed closes its sockets, which its peers see within milliseconds. A machine
// that disappears is found after 5 s, by the keep-alive messages of TCP or, on Linux, by a message
// that it does not acknowledge.
//
// # Trust
//
// Messages are checked: magic, kind, length, and the protocol and the size of the group when a
// rank joins. A stranger that connects and does not speak the protocol is disconnected. With
// [Config.Secret] the first message of each connection, and the answer of rank 0, prove that the
// sender knows it; a process without it is refused, and the others go on waiting. The connections
// are not encrypted, and only the first messages are authenticated: on a network that
// others can change or listen to, use an address that only the processes of the group can reach.
package ranks
