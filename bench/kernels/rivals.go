package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// rivals are the times of the peers, by name and number of rows.
type rivals map[rival]time.Duration

type rival struct {
	name string
	rows int
}

// readRivals reads the output of peers.py and peers.cu. Without a path it returns no
// times.
func readRivals(path string) (rivals, error) {
	times := rivals{}
	if path == "" {
		return times, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		cells := strings.Split(lines.Text(), "\t")
		if len(cells) != 3 {
			return nil, fmt.Errorf("%s:%d: %q is not a name, a number of rows and milliseconds", path, number, lines.Text())
		}
		rows, err := strconv.Atoi(cells[1])
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		milliseconds, err := strconv.ParseFloat(cells[2], 64)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, number, err)
		}
		times[rival{cells[0], rows}] = time.Duration(milliseconds * 1e6)
	}
	return times, lines.Err()
}
