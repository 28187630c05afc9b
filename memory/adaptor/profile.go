package adaptor

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/base/callstack"
)

// site sums the outstanding allocations of one call stack.
type site struct {
	stack         callstack.Stack
	bytes, blocks uint64
}

// sites sums the outstanding allocations by call stack, the largest first.
func (t *Tracking) sites() []*site {
	byStack := make(map[string]*site)
	var all []*site
	for _, h := range t.snapshot() {
		key := keyOf(h.stack)
		s := byStack[key]
		if s == nil {
			s = &site{stack: h.stack}
			byStack[key] = s
			all = append(all, s)
		}
		s.bytes += h.bytes
		s.blocks++
	}
	slices.SortStableFunc(all, func(a, b *site) int { return cmp.Compare(b.bytes, a.bytes) })
	return all
}

// keyOf returns equal keys for equal stacks only.
func keyOf(stack callstack.Stack) string {
	key := make([]byte, 0, 8*len(stack))
	for _, counter := range stack {
		key = binary.LittleEndian.AppendUint64(key, uint64(counter))
	}
	return string(key)
}

// WriteReport writes the outstanding allocations as text, summed by call stack, the
// largest first.
func (t *Tracking) WriteReport(w io.Writer) error {
	sites := t.sites()
	var bytes, blocks uint64
	for _, s := range sites {
		bytes, blocks = bytes+s.bytes, blocks+s.blocks
	}
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s in %d blocks outstanding\n", humanize.IBytes(bytes), blocks)
	for _, s := range sites {
		fmt.Fprintf(out, "%s in %d blocks", humanize.IBytes(s.bytes), s.blocks)
		if text := s.stack.Text(""); text != "" {
			fmt.Fprintf(out, ", allocated at\n\t%s", strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t"))
		}
		out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("memory/adaptor: tracking: write report: %w", err)
	}
	return nil
}
