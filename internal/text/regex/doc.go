// Package regex compiles regular expressions of Go's syntax to automata that a kernel runs.
//
// [Compile] makes a deterministic automaton over classes of characters: characters that no
// part of the pattern distinguishes have one class. A [Program] is its tables. The results are
// those of package regexp: the leftmost match, and among several that begin there the one
// that a backtracking search finds first. A byte that is not part of valid UTF-8 is the
// character U+FFFD.
//
// # States
//
// A state is the list of the threads of a simulation of the pattern's instructions, in the
// order of their priority, and the kind of the character before, which decides about \b and
// (?m)^. Threads are listed before instructions that take no character, because these may
// depend on the next character. A transition therefore finds out whether a thread matches in
// front of its character; the end of the text is a class too.
//
// # Limits
//
// The instructions of a pattern are counted before it is compiled, and the steps while it is. So a
// pattern that is too large is refused after a fraction of a second, whatever its repetitions.
//
// # Registers
//
// A search that needs positions keeps, for each thread, the position where it began and
// those of the requested groups. The threads of a state have fixed places, so
// a transition names the registers that it moves and sets. Most transitions change none.
package regex
