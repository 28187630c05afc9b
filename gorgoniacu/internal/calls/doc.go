// Package calls is the work by which the two bindings are compared: calls that
// cost the device next to nothing, so that what is measured is the way there.
//
// Each is made four ways: through package device/cuda, through gorgoniacu, by the
// functions of gorgonia.org/cu themselves on a thread that is locked and has the
// context already, which is how a program made for that binding calls it, and by
// these functions with a lock and the context set for the one call.
package calls
