package sketch

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// errFormat reports bytes that are no sketch.
var errFormat = errors.New("the bytes are no HLL sketch of DataSketches")

// The format of a HLL sketch: bytes of the preamble, and where what is behind it begins.
const (
	atPreambleInts, atVersion, atFamily, atLgK, atLgArray, atFlags, atCount, atMode = 0, 1, 2, 3, 4, 5, 6, 7
	atList, atSetCount, atSet                                                       = 8, 8, 12
	atHIP, atSumLow, atSumHigh, atZeros, atExceptions, atRegisters                  = 8, 16, 24, 32, 36, 40
	version, family                                                                 = 1, 7
	flagEmpty, flagCompact, flagOutOfOrder                                          = 4, 8, 16
	modeList, modeSet, modeHLL, modeMask                                            = 0, 1, 2, 3
	nibbles, sixBits, wholeBytes                                                    = 0, 1, 2
)

// bytes writes a sketch: coupons as a list or a set, registers as bytes.
func (h *hll) bytes() []byte {
	const mostListed = 7
	h.sort()
	if h.registers != nil {
		return h.registerBytes()
	}
	list := h.coupons
	ints, mode, begin := byte(2), byte(modeList), atList
	flags := byte(flagCompact)
	if len(list) > mostListed {
		ints, mode, begin = 3, modeSet, atSet
		flags |= flagOutOfOrder
	} else if len(list) == 0 {
		flags |= flagEmpty
	}
	b := make([]byte, begin, begin+4*len(list))
	h.preamble(b, ints, flags, mode)
	if mode == modeSet {
		binary.LittleEndian.PutUint32(b[atSetCount:], uint32(len(list)))
		b[atLgArray] = lgArrayOf(len(list))
	} else {
		b[atCount], b[atLgArray] = byte(len(list)), 3
	}
	for _, c := range list {
		b = binary.LittleEndian.AppendUint32(b, uint32(c))
	}
	return b
}

// lgArrayOf is the logarithm of the size of a hash table that is filled to three quarters at most.
func lgArrayOf(n int) (lg byte) {
	for lg = 5; 4*n > 3<<lg; lg++ {
	}
	return lg
}

func (h *hll) preamble(b []byte, ints, flags, mode byte) {
	b[atPreambleInts], b[atVersion], b[atFamily], b[atLgK] = ints, version, family, byte(h.lgK)
	b[atFlags], b[atMode] = flags, mode|wholeBytes<<2
}

func (h *hll) registerBytes() []byte {
	b := make([]byte, atRegisters+len(h.registers))
	h.preamble(b, 10, flagCompact|flagOutOfOrder, modeHLL)
	var low, high float64
	zeros := 0
	for _, rank := range h.registers {
		switch share := math.Ldexp(1, -int(rank)); {
		case rank < 32:
			low += share
		default:
			high += share
		}
		if rank == 0 {
			zeros++
		}
	}
	binary.LittleEndian.PutUint64(b[atHIP:], math.Float64bits(h.estimate()))
	binary.LittleEndian.PutUint64(b[atSumLow:], math.Float64bits(low))
	binary.LittleEndian.PutUint64(b[atSumHigh:], math.Float64bits(high))
	binary.LittleEndian.PutUint32(b[atZeros:], uint32(zeros))
	copy(b[atRegisters:], h.registers)
	return b
}

// parseHLL reads a sketch of any mode and width of registers.
func parseHLL(b []byte) (*hll, error) {
	if len(b) < atList || b[atVersion] != version || b[atFamily] != family {
		return nil, errFormat
	}
	lgK := int(b[atLgK])
	if lgK < LeastLgK || lgK > MostLgK {
		return nil, fmt.Errorf("%w: lgK is %d, expected %d to %d", errFormat, lgK, LeastLgK, MostLgK)
	}
	h := newHLL(lgK)
	switch b[atMode] & modeMask {
	case modeList:
		if b[atFlags]&flagEmpty != 0 {
			return h, nil
		}
		return h, h.addCoupons(b[atList:], int(b[atCount]), b[atFlags], b[atLgArray])
	case modeSet:
		if len(b) < atSet {
			return nil, errFormat
		}
		return h, h.addCoupons(b[atSet:], int(binary.LittleEndian.Uint32(b[atSetCount:])), b[atFlags], b[atLgArray])
	case modeHLL:
		return h, h.readRegisters(b)
	}
	return nil, errFormat
}

// addCoupons adds the coupons of a list, or of a hash table with empty places.
func (h *hll) addCoupons(b []byte, n int, flags, lgArray byte) error {
	if flags&flagCompact == 0 {
		n = 1 << min(lgArray, MostLgK)
	}
	if n < 0 || len(b)/4 < n {
		return errFormat
	}
	for i := range n {
		c := coupon(binary.LittleEndian.Uint32(b[4*i:]))
		if c == 0 {
			continue
		}
		if c.rank() == 0 {
			return rankError(0)
		}
		h.add(c)
	}
	return nil
}

// rankError reports a rank that no value has.
func rankError(rank int) error {
	return fmt.Errorf("%w: a rank is %d, expected 1 to %d", errFormat, rank, mostRank)
}

// readRegisters reads registers of 4, 6 or 8 bits.
func (h *hll) readRegisters(b []byte) error {
	if len(b) < atRegisters {
		return errFormat
	}
	preamble, b := b[:atRegisters], b[atRegisters:]
	n := 1 << h.lgK
	form := preamble[atMode] >> 2 & modeMask
	size, ok := map[byte]int{nibbles: n / 2, sixBits: n / 4 * 3, wholeBytes: n}[form]
	if !ok || len(b) < size {
		return errFormat
	}
	h.spread()
	switch form {
	case nibbles:
		return h.readNibbles(b, preamble)
	case sixBits:
		for slot := range h.registers {
			at := 6 * slot
			word := uint16(b[at/8])
			if at/8+1 < len(b) {
				word |= uint16(b[at/8+1]) << 8
			}
			h.registers[slot] = uint8(word >> (at % 8) & mostRank)
		}
	case wholeBytes:
		if greatest := slices.Max(b[:n]); greatest > mostRank {
			return rankError(int(greatest))
		}
		copy(h.registers, b)
	}
	return nil
}

// readNibbles reads registers of 4 bits above the least rank. 15 is that of a register among the exceptions.
func (h *hll) readNibbles(b, preamble []byte) error {
	const excepted = 15
	least := int(preamble[atCount])
	for slot := range h.registers {
		rank := least + int(b[slot/2]>>(4*(slot%2))&excepted)
		if rank == least+excepted {
			rank = math.MaxUint8 // until its exception is read
		} else if rank > mostRank {
			return rankError(rank)
		}
		h.registers[slot] = uint8(rank)
	}
	n := int(binary.LittleEndian.Uint32(preamble[atExceptions:]))
	if err := h.readExceptions(b[len(h.registers)/2:], n, preamble); err != nil {
		return err
	}
	if slices.Max(h.registers) > mostRank {
		return fmt.Errorf("%w: a register of 4 bits refers to an exception that is missing", errFormat)
	}
	return nil
}

// readExceptions reads the registers that no 4 bits hold: pairs of a register and a rank, as coupons.
func (h *hll) readExceptions(b []byte, n int, preamble []byte) error {
	if preamble[atFlags]&flagCompact == 0 {
		n = min(n, 1) << min(preamble[atLgArray], MostLgK) // a hash table
	}
	if n < 0 || len(b)/4 < n {
		return errFormat
	}
	for i := range n {
		c := coupon(binary.LittleEndian.Uint32(b[4*i:]))
		if c == 0 {
			continue
		}
		if c.rank() == 0 {
			return rankError(0)
		}
		h.registers[uint32(c)&(1<<h.lgK-1)] = c.rank()
	}
	return nil
}
