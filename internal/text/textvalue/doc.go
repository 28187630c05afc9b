// Package textvalue reads values of Arrow types from text. It is the one parser of numbers, dates
// and times: casts of text on the host, CSV and JSON lines use it. The kernels of
// internal/text/textparse do the same on a device.
//
// A text that a type cannot hold has no value: nothing wraps around and no digit of an integer is
// lost. Floats are rounded to the nearest one.
package textvalue
