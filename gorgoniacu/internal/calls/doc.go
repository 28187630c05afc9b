// Package calls holds the calls for the comparison of the two bindings: calls with
// almost no device work, so that a measurement shows the cost of the binding.
//
// Each call exists in four ways: through package device/cuda; through gorgoniacu;
// through the functions of gorgonia.org/cu on a locked thread with the context set, as
// a program for that binding calls them; and through these functions with the lock and
// the context set for the one call.
package calls
