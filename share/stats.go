package share

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Stats are the statistics of a server at one moment.
type Stats struct {
	// Tables are the published tables, by name, followed by withdrawn tables that are
	// still in use.
	Tables []TableStats
	// Clients counts the connected processes, Opens the openings since the server began.
	Clients int
	Opens   uint64
}

// TableStats are the statistics of one table.
type TableStats struct {
	TableInfo
	// Clients counts the clients that have the table open, References their openings.
	Clients, References int
	// Withdrawn reports that the table can no longer be opened.
	Withdrawn bool
}

// Table returns the statistics of a published table.
func (s Stats) Table(name string) (TableStats, bool) {
	for _, table := range s.Tables {
		if table.Name == name && !table.Withdrawn {
			return table, true
		}
	}
	return TableStats{}, false
}

// String formats the statistics in one line.
func (s Stats) String() string {
	var bytes uint64
	references := 0
	for _, table := range s.Tables {
		bytes += table.Bytes
		references += table.References
	}
	return fmt.Sprintf("%d tables of %s, %d references of %d clients, opened %d times",
		len(s.Tables), humanize.IBytes(bytes), references, s.Clients, s.Opens)
}

// Stats returns the statistics.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats()
}

func (s *Server) stats() Stats {
	stats := Stats{Clients: len(s.sessions), Opens: s.opens}
	add := func(p *published) {
		table := TableStats{TableInfo: p.info, Clients: len(p.references), Withdrawn: p.withdrawn}
		for _, count := range p.references {
			table.References += count
		}
		stats.Tables = append(stats.Tables, table)
	}
	for _, p := range s.tables {
		add(p)
	}
	for p := range s.hidden {
		add(p)
	}
	// Sorting stably takes a quarter of the code for structs of this size.
	slices.SortStableFunc(stats.Tables, func(a, b TableStats) int { return cmp.Compare(a.Name, b.Name) })
	return stats
}

// Wait waits until a condition on the statistics holds, for example that the last client
// is gone, and returns them. The server calls the condition at each change; it must not
// call the server.
//
// # Errors
//
// The error is the context's when the context ends first, and wraps [ErrClosed] when the
// server closes.
func (s *Server) Wait(ctx context.Context, until func(Stats) bool) (Stats, error) {
	for {
		s.mu.Lock()
		stats, changed, closed := s.stats(), s.changed, s.closed
		s.mu.Unlock()
		switch {
		case until(stats):
			return stats, nil
		case closed:
			return stats, failed("wait", s.path, ErrClosed)
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return stats, failed("wait", s.path, cancel.Error(ctx))
		}
	}
}

// list returns the tables that clients can open.
func (s *Server) list() []TableInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	infos := make([]TableInfo, 0, len(s.tables))
	for _, p := range s.tables {
		infos = append(infos, p.info)
	}
	slices.SortStableFunc(infos, func(a, b TableInfo) int { return cmp.Compare(a.Name, b.Name) })
	return infos
}
