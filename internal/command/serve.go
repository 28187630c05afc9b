package command

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe"
)

// serveProgram is the program of the module flight. It is separate, so that gpuframe itself
// contains no code that listens.
const serveProgram = "gpuframe-serve"

// installServe installs the program of this version; in the repository it is
// go -C flight install ./cmd/gpuframe-serve.
const installServe = "go install github.com/gpuframe/gpuframe/flight/cmd/" + serveProgram + "@" + gpuframe.Version

// newServe makes the command that runs the program of the module flight.
func newServe() *cobra.Command {
	return &cobra.Command{
		Use:                "serve [flags]",
		Short:              "Serve tables over Arrow Flight; runs the program " + serveProgram,
		DisableFlagParsing: true, // the flags are those of the program
		RunE: func(command *cobra.Command, arguments []string) error {
			path, err := exec.LookPath(serveProgram)
			if err != nil {
				return fmt.Errorf("serve: %w: install it with: %s", err, installServe)
			}
			serve := exec.CommandContext(command.Context(), path, arguments...)
			serve.Cancel = func() error { return serve.Process.Signal(os.Interrupt) }
			serve.Stdin, serve.Stdout, serve.Stderr = command.InOrStdin(), command.OutOrStdout(), command.ErrOrStderr()
			var status *exec.ExitError
			if err := serve.Run(); errors.As(err, &status) {
				return fmt.Errorf("serve: %s ended with %v", serveProgram, status)
			} else if err != nil {
				return fmt.Errorf("serve: %w", err)
			}
			return nil
		},
	}
}
