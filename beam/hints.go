package gpubeam

import (
	"fmt"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
)

// RequestAccelerator requests GPUs for the workers of all pipelines that this process submits
// afterwards: it adds the resource hint "accelerator" to the options of the Go SDK, as the flag
// --resource_hints does. kind is a name of the runner, for example "nvidia-l4" on
// Dataflow, count the GPUs of a worker, and options are the runner's, for example
// "install-nvidia-driver". The Go SDK has hints for whole pipelines only. Hints are advice: Prism
// ignores them. Call it before beam.Run, and not concurrently with it.
//
// # Errors
//
// The error wraps [ErrOptions].
func RequestAccelerator(kind string, count int, options ...string) error {
	if kind == "" || count < 1 {
		return fmt.Errorf("gpubeam: RequestAccelerator: %d GPUs of kind %q, expected a kind and one GPU or more: %w", count, kind, ErrOptions)
	}
	parts := append([]string{"type:" + kind, fmt.Sprint("count:", count)}, options...)
	for _, part := range parts {
		if strings.ContainsAny(part, "; ") {
			return fmt.Errorf("gpubeam: RequestAccelerator: %q has a semicolon or space: pass each option separately: %w", part, ErrOptions)
		}
	}
	return jobopts.ResourceHints.Set("accelerator=" + strings.Join(parts, ";"))
}
