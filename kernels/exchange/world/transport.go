package world

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/exchange/nccl"
)

// Transport is how the bytes of tables move between ranks. Messages always move through sockets.
type Transport uint8

const (
	// Automatic means NCCL if all ranks can use it, and otherwise Sockets.
	Automatic Transport = iota
	// NCCL means that bytes move from GPU to GPU, by NVIDIA's library libnccl.so.2. Each rank
	// needs a different GPU and the same version of the library, 2.14 or newer.
	NCCL
	// Sockets means that bytes move through pinned memory and sockets.
	Sockets
)

// String names the transport.
func (t Transport) String() string {
	switch t {
	case Automatic:
		return "automatic"
	case NCCL:
		return "NCCL"
	case Sockets:
		return "pinned memory and sockets"
	}
	return fmt.Sprintf("transport %d", uint8(t))
}

// ErrTransport means that NCCL has failed, or that a rank requests NCCL and another one cannot
// use it.
var ErrTransport = errors.New("the transport between ranks cannot be used")

// offer is the report of a rank before the ranks choose a transport.
type offer struct {
	Wants Transport `json:"wants"`
	// GPU identifies the device. It is empty if the rank cannot use NCCL, and then Reason is why.
	GPU    string `json:"gpu,omitempty"`
	NCCL   string `json:"nccl,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// offer returns the offer of this rank. It opens NCCL's library if this rank may need it.
func (c Config) offer() offer {
	o := offer{Wants: c.Transport}
	dev := c.Manager.Device()
	gpu := dev.Info().UUID.String()
	if c.standIn {
		gpu = fmt.Sprint("rank ", c.Rank)
	}
	switch {
	case c.Transport == Sockets:
		o.Reason = "Config.Transport is Sockets"
	case dev.Kind() != device.CUDA && !c.standIn:
		o.Reason = fmt.Sprintf("its device %s is not a CUDA device", dev.Name())
	default:
		version, err := nccl.Version()
		if err != nil {
			o.Reason = err.Error()
			return o
		}
		o.GPU, o.NCCL = gpu, version
	}
	return o
}

// choose returns the transport for the offers of all ranks. The choice is the same on all ranks. If
// it is Sockets, the error names the first rank that cannot use NCCL.
func choose(offers []offer) (Transport, *RankError) {
	first := map[string]int{}
	for rank, o := range offers {
		reason := o.Reason
		other, shared := first[o.GPU]
		switch {
		case o.GPU == "" && reason == "":
			reason = "it does not report a GPU"
		case o.GPU == "":
		case shared:
			reason = fmt.Sprintf("it has the GPU of rank %d, %s", other, o.GPU)
		case o.NCCL != offers[0].NCCL:
			reason = fmt.Sprintf("it has NCCL %s, rank 0 has NCCL %s: install one version", o.NCCL, offers[0].NCCL)
		}
		if reason != "" {
			return Sockets, &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("%s: %w", reason, ErrTransport)}
		}
		first[o.GPU] = rank
	}
	return NCCL, nil
}

// connect chooses the transport with the other ranks, and joins NCCL's communicator. After an error
// the World is down on all ranks or, if no transport suits all ranks, has the same error on all.
func (w *World) connect(ctx context.Context) error {
	if w.Size() == 1 {
		w.transport = "none (the World has one rank)"
		return nil
	}
	stop := context.AfterFunc(ctx, func() { w.group.Fail(cancel.Error(ctx)) })
	defer stop()
	offers, err := w.offers(ctx)
	if err != nil {
		return err
	}
	chosen, refusal := choose(offers)
	if chosen == NCCL {
		w.config.at()
		if refusal, err = w.join(ctx); err != nil {
			return err
		}
	}
	if refusal == nil {
		w.transport = fmt.Sprintf("NCCL %s", offers[0].NCCL)
		return nil
	}
	for rank, o := range offers {
		if o.Wants == NCCL {
			return fmt.Errorf("rank %d requests NCCL: %w", rank, refusal)
		}
	}
	w.transport = fmt.Sprintf("%v (%s)", Sockets, reasonOf(refusal))
	return nil
}

// reasonOf formats why NCCL is not used, without the text of ErrTransport.
func reasonOf(refusal *RankError) string {
	return strings.TrimSuffix(refusal.Error(), ": "+ErrTransport.Error())
}

// offers exchanges the offers of all ranks.
func (w *World) offers(ctx context.Context) ([]offer, error) {
	messages := make([][]byte, w.Size())
	mine := encode(w.config.offer())
	for rank := range messages {
		messages[rank] = mine
	}
	answers, err := w.group.Exchange(ctx, messages)
	if err != nil {
		return nil, err
	}
	offers := make([]offer, w.Size())
	for rank, answer := range answers {
		err := decode(answer, &offers[rank])
		if err == nil && offers[rank].Wants > Sockets {
			err = fmt.Errorf("it requests %v, expected Automatic, NCCL or Sockets: %w", offers[rank].Wants, ErrProtocol)
		}
		if err != nil {
			return nil, w.group.Fail(&RankError{Rank: rank, ReportedBy: rank, Err: err})
		}
	}
	return offers, nil
}

// joined is the message of a rank that has joined the communicator, or has failed to.
type joined struct {
	// ID is the name of the communicator. Only rank 0 sends it, in the first message.
	ID []byte `json:"id,omitempty"`
	// Reason is why the rank cannot join. Stopped is set if the reason is another rank's message.
	Reason  string `json:"reason,omitempty"`
	Stopped bool   `json:"stopped,omitempty"`
}

// join joins NCCL's communicator. If a rank cannot join, all ranks leave the communicator, and
// refusal names that rank.
func (w *World) join(ctx context.Context) (refusal *RankError, err error) {
	id, refusal, err := w.communicator(ctx)
	if refusal != nil || err != nil {
		return refusal, err
	}
	// A rank that fails sends its message before the others are done. They stop waiting then.
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	answers := make([]joined, w.Size())
	failures := make([]error, w.Size())
	var others sync.WaitGroup
	for rank := range answers {
		if rank == w.Rank() {
			continue
		}
		others.Go(func() {
			answers[rank], failures[rank] = w.hearJoined(ctx, rank)
			if answers[rank].Reason != "" || failures[rank] != nil {
				stop(errStopped)
			}
		})
	}
	mine := joined{}
	if failure := w.link.open(waiting, id); failure != nil {
		mine.Reason, mine.Stopped = failure.Error(), errors.Is(failure, errStopped)
	}
	answers[w.Rank()] = mine
	w.config.at()
	failures[w.Rank()] = w.group.Send(repeat(encode(mine), w.Size()))
	others.Wait()
	if err := errors.Join(failures...); err != nil {
		return nil, errors.Join(w.group.Fail(err), w.link.abort())
	}
	w.config.at()
	if refusal := firstRefusal(answers); refusal != nil {
		return refusal, w.link.abort()
	}
	return nil, nil
}

// errStopped ends the wait for a communicator that another rank cannot join.
var errStopped = errors.New("another rank cannot join")

// firstRefusal returns the first rank that cannot join for another reason than a message of others.
func firstRefusal(answers []joined) (refusal *RankError) {
	stopped := false
	for rank, a := range answers {
		if a.Reason == "" {
			continue
		}
		if refusal == nil || stopped && !a.Stopped {
			refusal = &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("%s: %w", a.Reason, ErrTransport)}
			stopped = a.Stopped
		}
	}
	return refusal
}

// communicator sends the name of the communicator from rank 0 to the others.
func (w *World) communicator(ctx context.Context) (id nccl.ID, refusal *RankError, err error) {
	var mine joined
	if w.Rank() == 0 {
		name, err := nccl.NewID()
		if mine.ID = name[:]; err != nil {
			mine = joined{Reason: err.Error()}
		}
	}
	answers, err := w.group.Exchange(ctx, repeat(encode(mine), w.Size()))
	if err != nil {
		return id, nil, err
	}
	w.config.at()
	var first joined
	err = decode(answers[0], &first)
	if err == nil && first.Reason == "" && len(first.ID) != len(id) {
		err = fmt.Errorf("a communicator's name of %d bytes, expected %d: %w", len(first.ID), len(id), ErrProtocol)
	}
	if err != nil {
		return id, nil, w.group.Fail(&RankError{Rank: 0, ReportedBy: 0, Err: err})
	}
	copy(id[:], first.ID)
	return id, firstRefusal([]joined{first}), nil
}

func (w *World) hearJoined(ctx context.Context, rank int) (answer joined, err error) {
	text, err := w.group.Receive(ctx, rank)
	if err != nil {
		return answer, err
	}
	if err := decode(text, &answer); err != nil {
		return answer, &RankError{Rank: rank, ReportedBy: rank, Err: err}
	}
	return answer, nil
}

// repeat returns a message for each rank.
func repeat(message []byte, size int) [][]byte {
	messages := make([][]byte, size)
	for rank := range messages {
		messages[rank] = message
	}
	return messages
}
