package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/tools/remotecommand"
	exitcode "k8s.io/client-go/util/exec"
)

func executor(o options) (remotecommand.Executor, error) {
	switch o.transport {
	case "v5", "v4":
		return remotecommand.NewWebSocketExecutorForProtocols(o.config, "GET", o.target.String(), o.transport+".channel.k8s.io")
	case "spdy":
		return remotecommand.NewSPDYExecutor(o.config, "POST", o.target)
	}
	return nil, fmt.Errorf("unknown transport %q", o.transport)
}

// sizes gives one terminal size after the other, each after half a second: before the command has begun a size is lost.
type sizes struct {
	left []remotecommand.TerminalSize
}

func (s *sizes) Next() *remotecommand.TerminalSize {
	time.Sleep(500 * time.Millisecond)
	if len(s.left) == 0 {
		return nil
	}
	next := s.left[0]
	s.left = s.left[1:]
	return &next
}

func sizeQueue(text string) (remotecommand.TerminalSizeQueue, error) {
	if text == "" {
		return nil, nil
	}
	queue := &sizes{}
	for _, word := range strings.Split(text, ",") {
		var size remotecommand.TerminalSize
		if _, err := fmt.Sscanf(word, "%dx%d", &size.Width, &size.Height); err != nil {
			return nil, fmt.Errorf("size %q: %w", word, err)
		}
		queue.left = append(queue.left, size)
	}
	return queue, nil
}

func runExec(o options) int {
	e, err := executor(o)
	if err != nil {
		fail(err)
	}
	queue, err := sizeQueue(o.resize)
	if err != nil {
		fail(err)
	}
	stream := remotecommand.StreamOptions{Stdout: os.Stdout, Stderr: os.Stderr, Tty: o.tty, TerminalSizeQueue: queue}
	if o.stdin {
		stream.Stdin = os.Stdin
	}
	if o.tty {
		stream.Stderr = nil
	}
	err = e.StreamWithContext(context.Background(), stream)
	var coded exitcode.CodeExitError
	if errors.As(err, &coded) {
		return coded.Code
	}
	if err != nil {
		fail(err)
	}
	return 0
}

type latencies struct {
	Ms []float64 `json:"ms"`
}

func runLatency(o options) (latencies, error) {
	var out latencies
	for range o.repeat {
		began := time.Now()
		e, err := executor(o)
		if err != nil {
			return out, err
		}
		if err = e.StreamWithContext(context.Background(), remotecommand.StreamOptions{Stdout: io.Discard, Stderr: os.Stderr}); err != nil {
			return out, err
		}
		out.Ms = append(out.Ms, float64(time.Since(began).Microseconds())/1000)
	}
	return out, nil
}
