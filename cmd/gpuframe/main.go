package main

import "github.com/gpuframe/gpuframe/internal/command"

func main() { command.Main() }
