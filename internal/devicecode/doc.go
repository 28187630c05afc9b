// Package devicecode prepares device code for CUDA's driver, which is told no
// length and so reads beyond code that is cut short. Both CUDA backends use it.
package devicecode
