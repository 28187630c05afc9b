package plan

import "math"

// The rates below are of H100 GPUs with NVLink. A plan needs only their relations: on the host all
// are lower.
const (
	// moveRate is the number of bytes per second that a device receives by peer copies, pinnedRate
	// that through pinned memory.
	moveRate, pinnedRate = 370e9, 25e9
	// partitionRate is the number of bytes per second that a device reads, or writes, to divide rows
	// by a hash.
	partitionRate = 1.2e12
	// buildRate is the number of rows per second that a join adds to its hash table.
	buildRate = 10e9
	// shuffleSeconds is the time of a shuffle of few rows: it hashes and partitions them, waits for
	// the sizes of the parts and for all devices, and makes one table of the parts.
	shuffleSeconds = 1e-3
	// copiedShare is the part of a device's memory, as a divisor, that a copy of the right side may
	// take. The join needs about as much for its hash table, and more for its result.
	copiedShare = 8
)

// joinCosts are the times that each device is expected to take for the right side of a join and to
// move rows, without the work that both ways have in common, as to look up the left rows.
type joinCosts struct{ broadcast, shuffle float64 }

// costsOf returns the expected times of both ways to join sides of known sizes: with a copy of the
// right side on each device, or with the rows of both sides on the devices of their hashes.
//
// The sizes of filtered rows and of joins are guesses. They are taken as they are: an error of the
// right side's size matters to both ways, and a shuffle of little data is not chosen because of its
// fixed time.
func (d *Devices) costsOf(left, right Size) joinCosts {
	rate := moveRate
	if d.Pinned {
		rate = pinnedRate
	}
	n, l, r := float64(d.Count), float64(left.Bytes()), float64(right.Bytes())
	away, build := (n-1)/n, float64(right.Rows)/buildRate
	costs := joinCosts{
		broadcast: r*away/rate + build,
		shuffle:   (l+r)/n*(2/partitionRate+away/rate) + build/n,
	}
	if d.LeastBytes > 0 { // otherwise little work is to be divided too
		costs.shuffle += 2 * shuffleSeconds
	}
	if d.Memory > 0 && r > float64(d.Memory)/copiedShare {
		costs.broadcast = math.Inf(1)
	}
	return costs
}
