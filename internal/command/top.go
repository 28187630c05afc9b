package command

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gpuframe/gpuframe/observe"
)

func newTop() *cobra.Command {
	interval := time.Second
	once := false
	command := &cobra.Command{
		Use:   "top URL",
		Short: "Show the memory and the queries of a running program, live",
		Long: "Top shows a program that has mounted observe.Recorder.Handler at the URL: managers and tenants, queries, tags and failures.\n" +
			"Keys: b orders tags by bytes, n by name, q ends.",
		Example:           "gpuframe top localhost:6060/debug/gpu",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: func(command *cobra.Command, arguments []string) error {
			s, err := newService(arguments[0])
			if err != nil {
				return err
			}
			if interval <= 0 {
				return fmt.Errorf("--interval is %v: want a positive duration", interval)
			}
			out := command.OutOrStdout()
			if once || !isTerminal(out) {
				return topOnce(command.Context(), s, out)
			}
			return topLive(command.Context(), s, out, command.InOrStdin(), interval)
		},
	}
	command.Flags().DurationVar(&interval, "interval", interval, "the time between two updates")
	command.Flags().BoolVar(&once, "once", false, "print once and end, as without a terminal")
	return command
}

// topOnce prints all there is, without the sequences of a terminal.
func topOnce(ctx context.Context, s *service, w io.Writer) error {
	var snapshot observe.Snapshot
	if err := s.read(ctx, "v1/snapshot", &snapshot); err != nil {
		return err
	}
	_, err := io.WriteString(w, topText(&snapshot, byBytes, 0, 0))
	return err
}

// topLive takes the terminal until q is typed or the context is done.
func topLive(ctx context.Context, s *service, w io.Writer, in io.Reader, interval time.Duration) error {
	keys := make(chan byte)
	if file, ok := in.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
		before, err := term.MakeRaw(int(file.Fd()))
		if err != nil {
			return err
		}
		defer func() { _ = term.Restore(int(file.Fd()), before) }() // the terminal may have gone
		go readKeys(file, keys)
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	t := terminal{w: w, keys: keys, ticks: ticker.C, size: func() (int, int) {
		columns, lines, err := term.GetSize(int(w.(*os.File).Fd()))
		if err != nil {
			return 80, 24
		}
		return columns, lines
	}}
	return t.run(ctx, func(ctx context.Context) (snapshot observe.Snapshot, err error) {
		return snapshot, s.read(ctx, "v1/snapshot", &snapshot)
	})
}

// readKeys sends what is typed until the end of the process.
func readKeys(from io.Reader, keys chan<- byte) {
	var key [1]byte
	for {
		if n, err := from.Read(key[:]); n == 0 || err != nil {
			return
		}
		keys <- key[0]
	}
}

// terminal draws snapshots. Tests record what it writes.
type terminal struct {
	w     io.Writer
	keys  <-chan byte
	ticks <-chan time.Time
	size  func() (columns, lines int)
}

// Control sequences of terminals.
const (
	enterScreen = "\x1b[?1049h\x1b[?25l" // another screen, without a cursor
	leaveScreen = "\x1b[?25h\x1b[?1049l"
	home        = "\x1b[H"
	clearLine   = "\x1b[K\r\n"
	clearRest   = "\x1b[J"
)

// interrupt is what control-C sends in raw mode.
const interrupt = 3

// run draws until q is typed or the context is done. A service that does not answer is
// shown as an error: it may come back.
func (t *terminal) run(ctx context.Context, read func(context.Context) (observe.Snapshot, error)) error {
	if _, err := io.WriteString(t.w, enterScreen); err != nil {
		return err
	}
	defer func() { _, _ = io.WriteString(t.w, leaveScreen) }()
	order := byBytes
	snapshot, err := read(ctx)
	for {
		columns, lines := t.size()
		text := ""
		if err != nil {
			text = plain(err.Error()) + "\n"
		}
		text += topText(&snapshot, order, columns, lines)
		if err := t.draw(text, columns, lines); err != nil {
			return err
		}
		select {
		case key := <-t.keys:
			switch key {
			case 'q', interrupt:
				return nil
			case 'b':
				order = byBytes
			case 'n':
				order = byName
			}
		case <-t.ticks:
			var next observe.Snapshot
			if next, err = read(ctx); err == nil {
				snapshot = next
			}
		case <-ctx.Done():
			return nil
		}
	}
}
