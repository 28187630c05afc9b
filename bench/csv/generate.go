package main

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"time"
)

const header = "order,quantity,price,discount,day,at,city,comment\n"

// blockRows is the number of rows that a goroutine writes at a time.
const blockRows = 50_000

// generate writes a file of a length, or a little more. Its rows depend on the seed alone.
func generate(name string, length int64, seed uint64) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	to := bufio.NewWriterSize(file, 1<<20)
	if _, err := to.WriteString(header); err != nil {
		return err
	}
	blocks := make(chan chan []byte, runtime.GOMAXPROCS(0))
	done := make(chan struct{})
	defer close(done)
	go func() {
		for number := uint64(0); ; number++ {
			block := make(chan []byte, 1)
			select {
			case blocks <- block:
				go func() { block <- rows(seed, number) }()
			case <-done:
				return
			}
		}
	}()
	for written := int64(len(header)); written < length; {
		block := <-<-blocks
		if _, err := to.Write(block); err != nil {
			return err
		}
		written += int64(len(block))
	}
	return to.Flush()
}

var (
	cities = []string{"Oslo", "New York", "São Paulo", "Bengaluru", "Lagos", "Kyoto", "Reykjavík", "Valparaíso"}
	words  = []string{"carefully", "final", "deposits", "sleep", "quickly", "above", "the", "ironic", "requests", "haggle", "blithely", "express"}
)

// rows returns a block of rows.
func rows(seed, number uint64) []byte {
	random := rand.New(rand.NewPCG(seed, number))
	text := make([]byte, 0, blockRows*110)
	first := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	for row := range uint64(blockRows) {
		text = strconv.AppendUint(text, number*blockRows+row+1, 10)
		text = append(text, ',')
		text = strconv.AppendUint(text, 1+random.Uint64N(50), 10)
		text = append(text, ',')
		text = strconv.AppendFloat(text, float64(90_000+random.Uint64N(10_000_000))/100, 'f', 2, 64)
		text = append(text, ',')
		text = strconv.AppendFloat(text, random.Float64(), 'g', -1, 64)
		text = append(text, ',')
		at := first.Add(time.Duration(random.Int64N(7*365*86_400)) * time.Second)
		text = at.AppendFormat(text, time.DateOnly)
		text = append(text, ',')
		text = at.AppendFormat(text, time.DateTime)
		text = append(text, ',')
		text = append(text, cities[random.IntN(len(cities))]...)
		text = append(text, ',')
		text = appendComment(text, random)
		text = append(text, '\n')
	}
	return text
}

// appendComment appends words. One comment in eight has a comma or a quote, and so has quotes around it; one in twenty is
// null.
func appendComment(text []byte, random *rand.Rand) []byte {
	kind := random.IntN(40)
	if kind < 2 {
		return text
	}
	begin := ""
	if kind < 7 {
		begin = `"`
	}
	text = append(text, begin...)
	for i := range 1 + random.IntN(6) {
		if i > 0 {
			text = append(text, ' ')
		}
		text = append(text, words[random.IntN(len(words))]...)
	}
	switch {
	case kind < 6:
		text = append(text, ", twice"...)
	case kind < 7:
		text = append(text, ` ""so"" `...)
	}
	return append(text, begin...)
}
