package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"github.com/gpuframe/gpuframe/observe"
)

func newMemorySnapshot() *cobra.Command {
	var path string
	command := &cobra.Command{
		Use:   "snapshot URL",
		Short: "Save the memory of a running program, block by block",
		Long: "Snapshot saves segments, blocks, stacks and last events of a program that has mounted observe.Recorder.Handler at the URL.\n" +
			"A file that ends with .json is read by gpuframe mem diff and gpuframe mem leaks.\nOther files have the format of PyTorch's memory snapshots: drop them on https://pytorch.org/memory_viz.",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, arguments []string) error {
			return saveMemory(command.Context(), command.OutOrStdout(), arguments[0], path)
		},
	}
	command.Flags().StringVarP(&path, "output", "o", "gpuframe-memory.pickle", "the file to write")
	return command
}

func saveMemory(ctx context.Context, w io.Writer, from, path string) error {
	m, err := readMemory(ctx, from)
	if err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if strings.HasSuffix(path, ".json") {
		err = json.NewEncoder(file).Encode(m)
	} else {
		err = m.WriteMemorySnapshot(file)
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, manager := range m.Managers {
		blocks, bytes := 0, uint64(0)
		for _, s := range manager.Segments {
			for _, b := range s.Blocks {
				if b.State == "in use" {
					blocks++
					bytes += b.Bytes
				}
			}
		}
		fmt.Fprintf(w, "%s on %s: %s in %d blocks, %d segments, %d events\n", plain(manager.Manager), plain(manager.Device),
			humanize.IBytes(bytes), blocks, len(manager.Segments), len(manager.Events))
	}
	return nil
}

// holder is a place that holds blocks.
type holder struct {
	manager, tenant, tag string
	// stack has one line for each frame.
	stack string
}

// held are the blocks of a holder.
type held struct {
	blocks int64
	bytes  int64
	oldest time.Time
}

// holders sums the blocks in use that a condition selects.
func holders(m *observe.MemoryMap, selects func(*observe.Block) bool) map[holder]held {
	sums := make(map[holder]held)
	for _, manager := range m.Managers {
		for _, s := range manager.Segments {
			for i := range s.Blocks {
				b := &s.Blocks[i]
				if b.State != "in use" || !selects(b) {
					continue
				}
				by := holder{manager.Manager, b.Tenant, b.Tag, stackText(m, b.Stack)}
				sum := sums[by]
				sum.blocks++
				sum.bytes += int64(b.Bytes)
				if !b.Since.IsZero() && (sum.oldest.IsZero() || b.Since.Before(sum.oldest)) {
					sum.oldest = b.Since
				}
				sums[by] = sum
			}
		}
	}
	return sums
}

// stackText returns a stack, after the line of the program that allocated if frames of gpuframe come before it.
func stackText(m *observe.MemoryMap, stack int) string {
	if stack <= 0 || stack > len(m.Stacks) {
		return ""
	}
	var lines strings.Builder
	frames := m.Stacks[stack-1]
	if caller := slices.IndexFunc(frames, observe.Frame.IsCaller); caller > 0 {
		f := frames[caller]
		fmt.Fprintf(&lines, "\tby %s at %s:%d, through\n", plain(f.Function), plain(f.File), f.Line)
	}
	for _, f := range frames {
		fmt.Fprintf(&lines, "\t%s\n\t\t%s:%d\n", plain(f.Function), plain(f.File), f.Line)
	}
	return lines.String()
}

func newMemoryDiff() *cobra.Command {
	return &cobra.Command{
		Use:     "diff BEFORE AFTER",
		Short:   "Print what two memory snapshots hold differently, by tag and stack",
		Long:    "Diff compares files of gpuframe mem snapshot that end with .json, or URLs of running programs.",
		Example: "gpuframe mem snapshot localhost:6060/debug/gpu -o before.json; sleep 60; gpuframe mem diff before.json localhost:6060/debug/gpu",
		Args:    cobra.ExactArgs(2),
		RunE: func(command *cobra.Command, arguments []string) error {
			before, err := readMemory(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			after, err := readMemory(command.Context(), arguments[1])
			if err != nil {
				return err
			}
			return printDifference(command.OutOrStdout(), &before, &after)
		},
	}
}

func printDifference(w io.Writer, before, after *observe.MemoryMap) error {
	all := func(*observe.Block) bool { return true }
	changes := holders(after, all)
	for by, was := range holders(before, all) {
		change := changes[by]
		change.blocks -= was.blocks
		change.bytes -= was.bytes
		changes[by] = change
	}
	maps.DeleteFunc(changes, func(_ holder, h held) bool { return h.blocks == 0 && h.bytes == 0 })
	if len(changes) == 0 {
		_, err := fmt.Fprintln(w, "no difference")
		return err
	}
	return printHolders(w, changes, func(h held) string {
		sign := "+"
		if h.bytes < 0 {
			sign = "-"
		}
		return fmt.Sprintf("%s%s\t%+d blocks", sign, humanize.IBytes(uint64(max(h.bytes, -h.bytes))), h.blocks)
	})
}

// printHolders prints the holders, those with most bytes first.
func printHolders(w io.Writer, list map[holder]held, figures func(held) string) error {
	order := slices.SortedFunc(maps.Keys(list), func(a, b holder) int {
		return cmp.Or(cmp.Compare(list[b].bytes, list[a].bytes), cmp.Compare(a.manager, b.manager), cmp.Compare(a.tenant, b.tenant),
			cmp.Compare(a.tag, b.tag), cmp.Compare(a.stack, b.stack))
	})
	lines := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, by := range order {
		name := "untagged"
		if by.tag != "" {
			name = "tag " + plain(by.tag)
		}
		if by.tenant != "" {
			name += ", tenant " + plain(by.tenant)
		}
		fmt.Fprintf(lines, "%s\t%s\t%s\n", figures(list[by]), plain(by.manager), name)
		if by.stack != "" {
			if err := lines.Flush(); err != nil {
				return err
			}
			if _, err := io.WriteString(w, by.stack); err != nil {
				return err
			}
		}
	}
	return lines.Flush()
}

func newMemoryLeaks() *cobra.Command {
	older := 10 * time.Minute
	command := &cobra.Command{
		Use:   "leaks URL|FILE",
		Short: "Print the blocks that have been held for long, by tag and stack",
		Long: "Leaks prints the blocks of a running program, or of a snapshot that ends with .json, that are older than --older.\n" +
			"Blocks without a recorded allocation count as old: set SampleBytes and Events of observe.Options early.",
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, arguments []string) error {
			m, err := readMemory(command.Context(), arguments[0])
			if err != nil {
				return err
			}
			return printOld(command.OutOrStdout(), &m, older)
		},
	}
	command.Flags().DurationVar(&older, "older", older, "the age from which a block is printed")
	return command
}

func printOld(w io.Writer, m *observe.MemoryMap, older time.Duration) error {
	old := holders(m, func(b *observe.Block) bool { return b.Since.IsZero() || m.Time.Sub(b.Since) >= older })
	if len(old) == 0 {
		_, err := fmt.Fprintf(w, "no block is older than %v\n", older)
		return err
	}
	return printHolders(w, old, func(h held) string {
		age := "unknown age"
		if !h.oldest.IsZero() {
			age = "oldest " + m.Time.Sub(h.oldest).Round(time.Second).String()
		}
		return fmt.Sprintf("%s\t%d blocks\t%s", humanize.IBytes(uint64(h.bytes)), h.blocks, age)
	})
}
