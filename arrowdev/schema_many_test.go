//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"sync"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

func TestConcurrentSchemaExports(t *testing.T) {
	schemas := make([]*arrow.Schema, 8)
	for i := range schemas {
		schemas[i] = arrow.NewSchema([]arrow.Field{{Name: fmt.Sprint("many", i), Type: arrow.PrimitiveTypes.Int8}}, nil)
	}
	var group sync.WaitGroup
	failures := make(chan string, 8)
	for worker := range 8 {
		group.Go(func() {
			for k := range 400 {
				want := schemas[(k*7+worker)%len(schemas)]
				var s cabi.Schema
				if err := ExportSchema(want, unsafe.Pointer(&s)); err != nil {
					failures <- err.Error()
					return
				}
				if k%31 == 0 {
					written.forget(s.Origin().Mark)
				}
				got, err := ImportSchema(unsafe.Pointer(&s))
				if err != nil || !want.Equal(got) {
					failures <- fmt.Sprint(got, err)
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	for failure := range failures {
		t.Error(failure)
	}
}
