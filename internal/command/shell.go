package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql"
	"github.com/gpuframe/gpuframe/sql/parse"
)

// shell reads statements from a terminal and runs them.
type shell struct {
	*fileCommand
	command  *cobra.Command
	session  *sql.Session
	in       *os.File
	keys     *keys
	terminal *term.Terminal
	// columns are those of the tables that names were completed of.
	columns map[gpuframe.Query][]string
	// timer is set if the time of each statement is shown.
	timer bool
}

const (
	prompt         = "gpuframe> "
	furtherPrompt  = "     ...> "
	shellGreeting  = "gpuframe, statements in SQL end with ;  .help lists the commands, Ctrl-D ends the shell.\n"
	shellDirectory = "gpuframe"
	ctrlC          = 3
)

func newShell(c *fileCommand, command *cobra.Command, session *sql.Session, in *os.File) *shell {
	s := &shell{fileCommand: c, command: command, session: session, in: in, keys: &keys{from: in}, timer: true}
	s.openTerminal(openHistory(historyPath()))
	return s
}

// openTerminal makes the reader of lines. One that has read Ctrl-C reads it again and again.
func (s *shell) openTerminal(lines term.History) {
	s.terminal = term.NewTerminal(readWriter{s.keys, s.command.OutOrStdout()}, prompt)
	s.terminal.AutoCompleteCallback = s.complete
	s.terminal.History = lines
}

// readWriter is a terminal.
type readWriter struct {
	io.Reader
	io.Writer
}

// keys passes on the keys of a terminal. The library reports Ctrl-C and Ctrl-D alike.
type keys struct {
	from        io.Reader
	interrupted bool
}

func (k *keys) Read(b []byte) (int, error) {
	n, err := k.from.Read(b)
	k.interrupted = k.interrupted || bytes.IndexByte(b[:n], ctrlC) >= 0
	return n, err
}

// run reads and runs statements until the input ends. An interrupt ends a statement, and not the command as
// elsewhere.
func (s *shell) run(ctx context.Context) error {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM)
	defer stop()
	fmt.Fprint(s.command.OutOrStdout(), shellGreeting)
	text := ""
	for {
		line, err := s.line(text != "")
		switch {
		case errors.Is(err, io.EOF) && s.keys.interrupted:
			text = "" // Ctrl-C drops the statement
			s.keys.interrupted = false
			s.openTerminal(s.terminal.History)
			continue
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if text == "" && strings.HasPrefix(strings.TrimSpace(line), ".") {
			if s.directive(ctx, strings.Fields(line)) {
				return nil
			}
			continue
		}
		text = s.statements(ctx, text+line+"\n")
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// line reads a line. The terminal has its usual mode again while statements run, so that Ctrl-C is a signal
// then.
func (s *shell) line(further bool) (string, error) {
	s.terminal.SetPrompt(prompt)
	if further {
		s.terminal.SetPrompt(furtherPrompt)
	}
	before, err := term.MakeRaw(int(s.in.Fd()))
	if err != nil {
		return "", fmt.Errorf("the terminal: %w", err)
	}
	defer func() { _ = term.Restore(int(s.in.Fd()), before) }()
	if columns, lines, err := term.GetSize(int(s.in.Fd())); err == nil && columns > 0 {
		_ = s.terminal.SetSize(columns, lines)
	}
	line, err := s.terminal.ReadLine()
	if errors.Is(err, term.ErrPasteIndicator) {
		err = nil
	}
	if err != nil {
		fmt.Fprint(s.command.OutOrStdout(), "\r\n")
	}
	return line, err
}

// statements runs the statements that a text completes, and returns the beginning of the next one.
func (s *shell) statements(ctx context.Context, text string) (rest string) {
	list, rest, err := parse.Split(text)
	if err != nil {
		s.report(err)
		return ""
	}
	for _, statement := range list {
		if !s.runStatement(ctx, statement) {
			return ""
		}
	}
	if strings.TrimSpace(rest) == "" {
		return ""
	}
	return rest
}

// runStatement runs a statement, which an interrupt ends, and reports whether it succeeded.
func (s *shell) runStatement(ctx context.Context, text string) bool {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	begun := time.Now()
	err := s.statement(ctx, s.command, s.session, text)
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(s.command.OutOrStdout(), "interrupted")
	case err != nil:
		s.report(err)
	case s.timer:
		fmt.Fprintf(s.command.OutOrStdout(), "%v\n", time.Since(begun).Round(time.Microsecond))
	}
	return err == nil
}

func (s *shell) report(err error) { fmt.Fprintln(s.command.OutOrStdout(), message(err)) }

// directives are the commands of the shell, with their descriptions.
var directives = []struct{ name, arguments, description string }{
	{".help", "", "lists the commands"},
	{".mode", "table|csv|json", "sets the form of rows"},
	{".quit", "", "ends the shell"},
	{".read", "FILE", "runs the statements of a file"},
	{".rows", "N", "sets the number of rows that a table shows"},
	{".schema", "TABLE", "shows the columns of a table"},
	{".tables", "", "lists the tables and views"},
	{".timer", "on|off", "sets whether the time of statements is shown"},
}

// directive does a command of the shell, and reports whether it ends the shell.
func (s *shell) directive(ctx context.Context, words []string) (quit bool) {
	argument := ""
	if len(words) > 1 {
		argument = words[1]
	}
	var err error
	switch words[0] {
	case ".quit", ".exit":
		return true
	case ".help":
		for _, d := range directives {
			fmt.Fprintf(s.command.OutOrStdout(), "%-8s %-16s %s\n", d.name, d.arguments, d.description)
		}
	case ".mode":
		s.to, err = oneOf(argument, tableFormat, "csv", "json")
	case ".rows":
		s.rows, err = strconv.Atoi(argument)
		if err != nil || s.rows < 1 {
			s.rows, err = 40, fmt.Errorf(".rows is %q, expected a number of 1 or more", argument)
		}
	case ".timer":
		argument, err = oneOf(argument, "on", "off")
		s.timer = argument == "on"
	case ".tables":
		s.runQuietly(ctx, "show tables")
	case ".schema":
		s.runQuietly(ctx, `describe "`+strings.ReplaceAll(argument, `"`, `""`)+`"`)
	case ".read":
		var text []byte
		if text, err = os.ReadFile(argument); err == nil {
			s.statements(ctx, string(text)+"\n;")
		}
	default:
		err = fmt.Errorf("there is no command %s: .help lists them", words[0])
	}
	if err != nil {
		s.report(err)
	}
	return false
}

// runQuietly runs a statement without its time.
func (s *shell) runQuietly(ctx context.Context, text string) {
	timer := s.timer
	s.timer = false
	s.runStatement(ctx, text)
	s.timer = timer
}

// oneOf returns an argument that is one of some words, and otherwise the first one with an error.
func oneOf(argument string, words ...string) (string, error) {
	for _, word := range words {
		if argument == word {
			return argument, nil
		}
	}
	return words[0], fmt.Errorf("%q: expected one of %s", argument, strings.Join(words, ", "))
}
