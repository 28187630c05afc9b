package command

import (
	"os"
	"path/filepath"
	"strings"
)

// mostHistory is the number of lines that a history keeps.
const mostHistory = 1000

// history has the lines of earlier shells and of this one, the latest last, and appends new ones to a file.
// Failures of the file are ignored: the shell works without it.
type history struct {
	path  string
	lines []string
}

// historyPath returns the file of the history, or nothing without a home directory.
func historyPath() string {
	folder := os.Getenv("XDG_STATE_HOME")
	if folder == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		folder = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(folder, shellDirectory, "history")
}

func openHistory(path string) *history {
	h := &history{path: path}
	if text, err := os.ReadFile(path); err == nil {
		h.lines = strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
		h.lines = h.lines[max(0, len(h.lines)-mostHistory):]
	}
	return h
}

// Add implements term.History.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if h.path == "" || os.MkdirAll(filepath.Dir(h.path), 0o700) != nil {
		return
	}
	file, err := os.OpenFile(h.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	_, _ = file.WriteString(line + "\n")
	_ = file.Close()
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History. The latest line is the first.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }
