package ranks_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/gpuframe/gpuframe/internal/exchange/ranks"
)

// Two ranks exchange messages. They are goroutines here, and processes in programs.
func Example() {
	folder, err := os.MkdirTemp("", "ranks")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(folder)
	var all sync.WaitGroup
	lines := make([]string, 2)
	for rank := range 2 {
		all.Go(func() {
			config := ranks.Config{Rank: rank, Size: 2, Address: "unix:" + filepath.Join(folder, "s"), Protocol: "example 1"}
			g, err := ranks.Open(context.Background(), config)
			if err != nil {
				lines[rank] = err.Error()
				return
			}
			defer g.Close()
			answers, err := g.Exchange(context.Background(), [][]byte{
				fmt.Appendf(nil, "%d to 0", rank), fmt.Appendf(nil, "%d to 1", rank),
			})
			lines[rank] = fmt.Sprintf("rank %d has %q, error %v", rank, answers, err)
		})
	}
	all.Wait()
	fmt.Println(lines[0])
	fmt.Println(lines[1])
	// Output:
	// rank 0 has ["0 to 0" "1 to 0"], error <nil>
	// rank 1 has ["0 to 1" "1 to 1"], error <nil>
}
