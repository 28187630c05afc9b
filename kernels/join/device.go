package join

import (
	"embed"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

//go:embed cuda/*.ptx*
var code embed.FS

// set has the kernels, each compiled when it is first used.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

const (
	threads = 256
	// tilePairs is the number of pairs that a block of expand_pairs writes: see pairs.cu.
	tilePairs = 2048
	// matchLoads is the most rows of a thread of kernels that pair rows: see pairing.cuh.
	// Fewer than loadRows rows have one a thread, so that no thread looks for one row after the
	// other while multiprocessors are idle.
	matchLoads, loadRows = 8, 1 << 17
	// aloneRows is the most rows that one block of aloneThreads looks up and pairs.
	aloneRows, aloneThreads = 2048, 1024
	// fewRows is the most rows of a table that one block of fewThreads makes: see table.cu.
	fewRows, fewThreads = 4096, 1024
	// loopRows is the number of rows of a thread of kernels that loop over many rows.
	loopRows = 4
	// distinctOffset is the place of distinct in struct Header of table.cuh.
	distinctOffset = 16
)

// launch launches a kernel with a thread for each of n things.
func (r *run) launch(file, entry string, n int, arguments ...any) error {
	f, err := r.call.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(r.call.Stream, kernels.GridFor(n, threads), device.Dim3{X: threads}, 0, arguments...)
}

func (r *run) spansOnDevice(counts, lows, highs memory.Slice[uint32], bits memory.Slice[uint8]) error {
	return r.launch("pairs", "spans", counts.Len(), counts, lows, highs, bits, uint64(counts.Len()))
}

// matchTiles returns the number of rows of a thread that pairs rows, and that of tiles.
func matchTiles(rows int) (loads uint32, tiles int) {
	n := min(max(rows/loadRows, 1), matchLoads)
	return uint32(n), (rows + threads*n - 1) / (threads * n)
}

// sumOnDevice sums the pairs of rows, and waits for the sum. Matches that are pending are found
// by the same kernel.
func (r *run) sumOnDevice(s *sequence, f form) error {
	m := s.matches
	loads, tiles := matchTiles(m.probe)
	file, entry, arguments := "pairs", "sum_matches", []any{m.first, m.count}
	if l := m.pending; l != nil {
		if err := r.decideDistinct(l.table); err != nil {
			return err
		}
		t, err := l.table.argument()
		if err != nil {
			return err
		}
		m.list = l.table.list
		file, entry = "table", "probe_sums"+l.words.width()
		arguments = []any{t, l.words.argument(), word(l.table.distinct), uint32(f)}
	} else {
		arguments = append(arguments, uint32(f), uint64(m.probe))
	}
	n := uint64(m.probe)
	sums, slices, err := r.call.Scratch(4*n, 4*n, 8*n)
	if err != nil {
		return err
	}
	s.block, s.sums = sums, kernels.Struct(kernels.Output(slices[0]), kernels.Output(slices[1]), kernels.Output(slices[2]))
	block, scratch, err := r.call.Scratch(lookback.Bytes(uint64(tiles), 16), 16)
	if err != nil {
		return err
	}
	err = func() error {
		if err := scratch[0].Fill(r.call.Stream, 0); err != nil {
			return err
		}
		arguments = append(append([]any{s.sums}, arguments...), loads, scratch[1], scratch[0])
		if err := r.launchTiles(file, entry, tiles, arguments...); err != nil {
			return err
		}
		words, err := memory.Reinterpret[uint64](scratch[1])
		if err != nil {
			return err
		}
		var totals [2]uint64 // struct Totals of pairing.cuh
		err = words.Download(r.call.Context(), r.call.Stream, totals[:])
		s.total, s.rows = int64(totals[0]), int(totals[1])
		return err
	}()
	return errors.Join(err, block.Release())
}

// expandOnDevice writes n pairs from a number on to struct PairsOut of pairing.cuh.
func (r *run) expandOnDevice(s *sequence, from int64, n int, out any) error {
	f, err := r.call.Kernel(&set, "pairs", "expand_pairs")
	if err != nil {
		return err
	}
	return f.Launch(r.call.Stream, kernels.GridFor(n, tilePairs), device.Dim3{X: threads}, 0,
		out, s.sums, s.matches.list, uint64(s.rows), uint64(from), uint64(n))
}

// pairOnDevice writes the pairs of single matches to struct PairsOut of pairing.cuh, and the
// words of their outcome. Matches that are pending are found by the first of two kernels.
func (r *run) pairOnDevice(m *matches, out any, outcome memory.Slice[uint64]) error {
	if m.pending != nil && m.probe <= aloneRows {
		return r.probePairs(m.pending, out, true, outcome, memory.Slice[uint8]{})
	}
	loads, tiles := matchTiles(m.probe)
	block, slices, err := r.call.Scratch(lookback.Bytes(uint64(tiles), 8))
	if err != nil {
		return err
	}
	err = func() error {
		if err := slices[0].Fill(r.call.Stream, 0); err != nil {
			return err
		}
		if m.pending == nil {
			return r.launchTiles("pairs", "pair_matches", tiles, out, m.first, uint64(m.probe), loads, outcome, slices[0])
		}
		if err := r.probePairs(m.pending, out, false, outcome, slices[0]); err != nil {
			return err
		}
		return r.launchTiles("pairs", "compact_pairs", tiles, out, uint64(m.probe), loads, outcome, slices[0])
	}()
	return errors.Join(err, block.Release())
}

// probePairs writes the pair of each row at the place of the row. With alone set one block has
// all rows; it compacts the pairs and writes the outcome.
func (r *run) probePairs(l *lookup, out any, alone bool, outcome memory.Slice[uint64], state memory.Slice[uint8]) error {
	t, err := l.table.argument()
	if err != nil {
		return err
	}
	f, err := r.call.Kernel(&set, "table", "probe_pairs"+l.words.width())
	if err != nil {
		return err
	}
	grid, block := kernels.GridFor(l.words.rows, threads), device.Dim3{X: threads}
	if alone {
		grid, block = device.Dim3{X: 1}, device.Dim3{X: aloneThreads}
	}
	return f.Launch(r.call.Stream, grid, block, 0, out, t, l.words.argument(), word(!l.table.decided), word(alone), outcome, state)
}

// launchTiles launches a kernel with a block for each tile.
func (r *run) launchTiles(file, entry string, tiles int, arguments ...any) error {
	f, err := r.call.Kernel(&set, file, entry)
	if err != nil {
		return err
	}
	return f.Launch(r.call.Stream, device.Dim3{X: uint32(tiles)}, device.Dim3{X: threads}, 0, arguments...)
}

func (r *run) markOnDevice(k *marks, p *pairs) error {
	return r.launch("pairs", "mark_rows", p.rows, k.marked, p.build, uint64(p.rows))
}

func (r *run) unmarkedOnDevice(k *marks) error {
	n := k.rows.Len()
	return r.launch("pairs", "unmarked_rows", (n+63)/64*64, k.rows, k.missing, k.marked, uint64(n))
}

func (r *run) runsOnDevice(m *matches, probe, ends memory.Slice[uint32]) error {
	err := r.launch("pairs", "runs_of_rows", probe.Len(), m.first, ends, probe, uint64(probe.Len()))
	return errors.Join(err, r.spansOnDevice(m.count, m.first, ends, memory.Slice[uint8]{}))
}

func (r *run) sharedOnDevice(out, left, right memory.Slice[uint32]) error {
	return r.launch("pairs", "shared_rows", out.Len(), out, left, right, uint32(rowsOf(r.left)), uint64(out.Len()))
}

func (r *run) numbersOnDevice(out op.Buffers, rows memory.Slice[uint32], n int) error {
	return r.launch("pairs", "row_numbers", (n+63)/64*64, out.Values, out.Valid, rows, uint64(n))
}
