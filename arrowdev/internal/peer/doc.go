// Package peer is the other library in tests of package arrowdev: a producer and a
// consumer of the Arrow C data interface in C, written from the text of the standard
// alone. It shares nothing with gpuframe's layouts of the structs, so a test fails if
// the two disagree.
//
// [Produce] makes arrays of every layout with random contents, and records releases,
// which [Counts] returns. [Look] reads an array as another library would, checks it
// against the standard, and writes its contents as text, the same text that [Text]
// writes for an arrow-go array. [Stream], [Drain], [Send] and [NewReceiver] do the same
// for streams, the asynchronous ones on threads that Go did not create.
//
// Types are written as Arrow's format strings with children in parentheses and a
// dictionary in angle brackets: "+s(key!=i;values=+l(item=u);kind=c<u>)". An
// exclamation mark makes a field not nullable; alone at the front, the type itself.
package peer
