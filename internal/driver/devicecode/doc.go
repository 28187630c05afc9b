// Package devicecode prepares device code for CUDA's driver. The driver receives no
// length, so it reads past the end of truncated code. Both CUDA backends use this
// package.
package devicecode
