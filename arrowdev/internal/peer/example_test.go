//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer_test

import (
	"fmt"

	"github.com/gpuframe/gpuframe/arrowdev/internal/peer"
)

func Example() {
	made, err := peer.Produce("!+l(item=c<u>)", peer.Options{Length: 3, Ahead: 2, Quirks: peer.UnknownNulls})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer made.Free()
	seen := peer.Look(made.Device(), made.Schema(), peer.View{})
	fmt.Println(seen.Type)
	fmt.Println(seen.Values == made.Text, seen.Problems)
	// Output:
	// =+l flags=0 (item=c flags=2 <=u flags=2>)
	// true []
}
