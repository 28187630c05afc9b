package main

import (
	"fmt"
	"strings"
)

// The measured rates. docs/measurements/2026-11-24-scale.md names the source of each.
const (
	copyRate   = 4.2e12 // bytes read, and as many written, in a second on one GPU
	linkShare  = 0.80   // of a network link, by an all-to-all of NCCL
	nvlinkRate = 383e9  // bytes that a GPU sends in a second to the other seven of its host
)

// operator is work on each GPU, with the bytes that it exchanges.
type operator struct {
	name string
	// local is the measured time on one GPU, in seconds, merge that of merging what the
	// other GPUs send.
	local, merge float64
	// bytes are exchanged by each GPU in an all-to-all.
	bytes float64
	rows  float64
}

const rows = 1 << 27

// operators are those of the tables. Group-by exchanges its groups, 16 bytes each, and merges
// as many groups as it sends.
func operators() []operator {
	return []operator{
		{"filter, 100 groups", 1.160e-3, 0, 100 * 16, rows},
		{"group-by, 10⁴ groups", 0.774e-3, 1e4 * 3.171e-3 / rows, 1e4 * 16, rows},
		{"group-by, 10⁶ groups", 3.171e-3, 1e6 * 3.171e-3 / rows, 1e6 * 16, rows},
		{"group-by, 2²⁶ groups", 6.512e-3, (1 << 26) * 6.512e-3 / rows, (1 << 26) * 16, rows},
		{"join, 10⁸ by 10⁸ rows", 11.772e-3, 0, 2e8 * 16, 2e8},
		{"sort of int64", 4.647e-3, 0, rows * 8, rows},
	}
}

// cluster is a number of GPUs in hosts, each GPU with a link of some bits a second.
type cluster struct {
	gpus, host int
	link       float64
}

// network is the time of an all-to-all in which each GPU has bytes, evenly for all: the part
// for other hosts goes over the link, the other part over NVLink at the same time.
func (c cluster) network(bytes float64) float64 {
	all := float64(c.gpus)
	host := min(c.host, c.gpus)
	far := bytes * (all - float64(host)) / all / (linkShare * c.link / 8)
	near := bytes * float64(host-1) / all / nvlinkRate
	return max(far, near)
}

// partition is the time to order bytes by their receiver: one pass that reads and writes.
func partition(bytes float64) float64 { return 2 * bytes / copyRate }

// times returns the time of an operator without and with a network that works at the same time as the GPU.
func (c cluster) times(o operator) (apart, overlapped float64) {
	work := o.local + o.merge
	if o.bytes > 0 {
		work += partition(o.bytes)
	}
	return work + c.network(o.bytes), max(work, c.network(o.bytes))
}

// clusters are those of the tables.
func clusters() []cluster {
	var list []cluster
	for _, gpus := range []int{8, 64, 1000} {
		for _, host := range []int{8, 1} {
			for _, link := range []float64{50e9, 400e9} {
				if gpus == host && link == 400e9 {
					continue // one host uses no link
				}
				list = append(list, cluster{gpus, host, link})
			}
		}
	}
	return list
}

func (c cluster) String() string {
	if c.gpus == c.host {
		return fmt.Sprintf("%d | one host | –", c.gpus)
	}
	hosts := fmt.Sprintf("%d of %d", c.gpus/c.host, c.host)
	return fmt.Sprintf("%d | %s | %.0f", c.gpus, hosts, c.link/1e9)
}

// tables returns the texts of the files.
func tables() map[string]string {
	return map[string]string{"efficiency.md": efficiency(), "bytes.md": bytesForRow(), "exchange.md": exchange()}
}

// efficiency is the share of the GPUs' time that is not spent on being many.
func efficiency() string {
	var b strings.Builder
	b.WriteString("| GPUs | hosts | Gbit/s for each GPU |")
	for _, o := range operators() {
		fmt.Fprintf(&b, " %s |", o.name)
	}
	b.WriteString("\n| --- | --- | --- |" + strings.Repeat(" --- |", len(operators())) + "\n")
	for _, c := range clusters() {
		fmt.Fprintf(&b, "| %v |", c)
		for _, o := range operators() {
			apart, overlapped := c.times(o)
			mark := ""
			if c.network(o.bytes) > overlapped-1e-12 && o.bytes > 0 {
				mark = " N"
			}
			fmt.Fprintf(&b, " %.2f, %.2f%s |", o.local/apart, o.local/overlapped, mark)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// bytesForRow is how many bytes of a row can be exchanged before the network takes longer than
// the work on one GPU.
func bytesForRow() string {
	var b strings.Builder
	b.WriteString("| operator | local, ns for each row | 50 Gbit/s, bytes for each row | 400 Gbit/s, bytes for each row | exchanged, bytes for each row |\n| --- | --- | --- | --- | --- |\n")
	for _, o := range operators() {
		fmt.Fprintf(&b, "| %s | %.4f |", o.name, o.local/o.rows*1e9)
		for _, link := range []float64{50e9, 400e9} {
			fmt.Fprintf(&b, " %.3f |", o.local/o.rows*linkShare*link/8)
		}
		fmt.Fprintf(&b, " %.4g |\n", o.bytes/o.rows)
	}
	return b.String()
}

// exchange is the rate of an all-to-all.
func exchange() string {
	var b strings.Builder
	b.WriteString("| GPUs | hosts | Gbit/s for each GPU | all-to-all, GB/s for each GPU | all GPUs, GB/s |\n| --- | --- | --- | --- | --- |\n")
	for _, c := range clusters() {
		const bytes = 1e9
		sent := bytes * float64(c.gpus-1) / float64(c.gpus)
		rate := sent / c.network(bytes) / 1e9
		fmt.Fprintf(&b, "| %v | %.1f | %.0f |\n", c, rate, rate*float64(c.gpus))
	}
	return b.String()
}
