package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(run())
}

func run() (status int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := newRoot().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "gpuframe:", err)
		return 1
	}
	return 0
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:           "gpuframe",
		Short:         "Look into what gpuframe does on this machine",
		SilenceUsage:  true,
		SilenceErrors: true, // main prints them
	}
	memory := &cobra.Command{
		Use:   "mem",
		Short: "Device memory",
		Args:  cobra.NoArgs, // so that an unknown command is an error
		RunE:  func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	memory.AddCommand(newInfo(), newReplay())
	root.AddCommand(memory)
	return root
}
