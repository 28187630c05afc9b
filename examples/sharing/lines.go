package main

import (
	"bytes"
	"io"
	"sync"
)

// lines writes whole lines, each prefixed with the name of its process.
type lines struct {
	mu     sync.Mutex
	to     io.Writer
	prefix string
	begun  []byte
}

// Write implements io.Writer.
func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = append(l.begun, text...)
	for {
		end := bytes.IndexByte(l.begun, '\n')
		if end < 0 {
			return len(text), nil
		}
		line := append([]byte(l.prefix), l.begun[:end+1]...)
		l.begun = l.begun[end+1:]
		if _, err := l.to.Write(line); err != nil {
			return 0, err
		}
	}
}
