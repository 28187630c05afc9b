// Package peer plays the other library in tests of package arrowdev: a producer
// and a consumer of the Arrow C data interface in C, written from the text of the
// standard alone. It shares nothing with gpuframe's own layouts of the structs, so
// that where the two disagree a test fails.
//
// [Produce] makes arrays of every layout, whose contents a seed decides; it keeps
// books about releases, which [Counts] shows. [Look] reads an array as a stranger
// would, checks it against the standard, and writes what it holds as text, the
// same that [Text] writes of an arrow-go array. [Stream], [Drain], [Send] and
// [NewReceiver] do the same for streams, the asynchronous ones on threads that Go
// has never seen.
//
// Types are written as Arrow's format strings with children in parentheses and a
// dictionary in angle brackets: "+s(key!=i;values=+l(item=u);kind=c<u>)". An
// exclamation mark makes a field not nullable; alone at the front, the type itself.
package peer
