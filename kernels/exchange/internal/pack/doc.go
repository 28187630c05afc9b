// Package pack plans the memory of columns that move: which parts of their buffers belong to
// their elements, and where these lie in one block of memory.
package pack
