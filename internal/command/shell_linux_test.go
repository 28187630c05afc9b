package command

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/gpuframe/gpuframe/internal/testing/await"
)

// keyboard controls a process on a terminal.
type keyboard struct {
	t       *testing.T
	keys    *os.File
	command *exec.Cmd

	mu    sync.Mutex
	shown bytes.Buffer
	ended chan struct{}
}

// openTerminal starts the shell on a new terminal.
func openTerminal(t *testing.T, home string) *keyboard {
	t.Helper()
	keys, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { _ = keys.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(keys.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(keys.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	screen, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetWinsize(int(keys.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	s := &keyboard{t: t, keys: keys, ended: make(chan struct{}), command: exec.Command(os.Args[0], "sql", "--device", "host")}
	s.command.Env = append(os.Environ(), "GPUFRAME_TEST_COMMAND=1", "XDG_STATE_HOME="+home)
	s.command.Stdin, s.command.Stdout, s.command.Stderr = screen, screen, screen
	s.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(t, s.command.Start())
	require.NoError(t, screen.Close())
	go func() {
		defer close(s.ended)
		_, _ = io.Copy(s, keys) // ends with an error when the process has ended
	}()
	return s
}

// Write receives what the process shows.
func (s *keyboard) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.Write(b)
}

// press sends keys.
func (s *keyboard) press(keys string) {
	s.t.Helper()
	_, err := s.keys.WriteString(keys)
	require.NoError(s.t, err)
}

// wait waits until the process has shown a text since the last call.
func (s *keyboard) wait(text string) {
	s.t.Helper()
	await.Until(s.t, func() bool { return s.shows(text) }, "the terminal shows %q", text)
}

// shows reports whether the process has shown a text since the last one that was found.
func (s *keyboard) shows(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := strings.Index(s.shown.String(), text)
	if at >= 0 {
		s.shown.Next(at + len(text))
	}
	return at >= 0
}

// interrupt presses Ctrl-C until a statement ends. A key that is pressed before the statement runs is one of the
// next line.
func (s *keyboard) interrupt() {
	s.t.Helper()
	var pressed time.Time
	await.Until(s.t, func() bool {
		if time.Since(pressed) > 100*time.Millisecond { // a terminal holds few keys
			s.press("\x03")
			pressed = time.Now()
		}
		return s.shows("interrupted")
	}, "Ctrl-C ends the statement")
}

// TestShell uses the shell as a person does.
func TestShell(t *testing.T) {
	home := t.TempDir()
	s := openTerminal(t, home)
	s.wait(prompt)
	s.press("select 6 * 7 as answer;\r")
	s.wait("answer")
	s.wait("42")
	s.wait(prompt)
	s.press("select 'two\r") // a statement of two lines, with a semicolon in a text
	s.wait(furtherPrompt)
	s.press("; lines' as t;\r")
	s.wait("lines")
	s.wait(prompt)
	s.press("create table trips as select * from range(7) as r(distance);\r")
	s.wait(prompt)
	s.press("select sum(dist\t) as total from tri\t;\r") // the tab key completes a column and a table
	s.wait("total")
	s.wait("21")
	s.wait(prompt)
	s.press("select a form t;\r")
	s.wait("line 1, column 10")
	s.wait(prompt)
	s.press("select 1 +\x03") // Ctrl-C drops the statement
	s.wait(prompt)
	s.press(".tables\r")
	s.wait("trips")
	s.wait(prompt)
	s.press("select count(*) from range(3000000) a(x), range(3000000) b(y) where x + y = 1;\r")
	s.wait("y = 1;")
	s.interrupt() // it does not end the shell
	s.wait(prompt)
	s.press("\x1b[A\r") // the line before
	s.wait("range(3000000)")
	s.interrupt()
	s.wait(prompt)
	s.press("\x04")
	require.NoError(t, s.command.Wait())
	<-s.ended
	lines, err := os.ReadFile(filepath.Join(home, shellDirectory, "history"))
	require.NoError(t, err)
	require.Contains(t, string(lines), "select 6 * 7 as answer;\n")

	again := openTerminal(t, home) // the history stays
	again.wait(prompt)
	again.press("\x1b[A")
	again.wait("range(3000000)")
	again.press("\x03")
	again.wait(prompt)
	again.press(".quit\r")
	require.NoError(t, again.command.Wait())
}
