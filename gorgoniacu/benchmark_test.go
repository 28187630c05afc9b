//go:build linux && cgo && (amd64 || arm64)

package gorgoniacu_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/gorgoniacu/internal/calls"
)

// BenchmarkCalls compares the two bindings, and direct calls of gorgonia.org/cu, by
// operations with almost no device work.
func BenchmarkCalls(b *testing.B) {
	work, err := calls.New()
	require.NoError(b, err)
	for _, call := range work.Calls {
		for _, way := range calls.Ways {
			b.Run(call.Name+"/"+way, func(b *testing.B) {
				once := call.By[way]
				repeat := func() error {
					for b.Loop() {
						if err := once(); err != nil {
							return err
						}
					}
					return nil
				}
				b.ReportAllocs()
				if way == calls.Direct {
					err = work.OnThread(repeat)
				} else {
					err = repeat()
				}
				require.NoError(b, err)
				require.NoError(b, work.Wait())
			})
		}
	}
	require.NoError(b, work.Close())
}
