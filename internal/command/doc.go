// Package command is the program gpuframe: cmd/gpuframe runs it, and the module distribution runs it with more stores and formats.
package command
