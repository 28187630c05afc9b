// Package binarysize has two programs, whose sizes scripts/binary-size.sh prints and
// limits.
package binarysize

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// PrintResident prints how much memory the process has had resident at most, in kB. It
// prints nothing on systems other than Linux.
func PrintResident() {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return
	}
	defer status.Close()
	for lines := bufio.NewScanner(status); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "VmHWM:"); ok {
			fmt.Println(strings.TrimSuffix(strings.TrimSpace(value), " kB"))
		}
	}
}
