package main

import (
	"fmt"
	"slices"
	"sync"
	"time"

	cri "k8s.io/cri-api/pkg/apis/runtime/v1"
)

type eventLog struct {
	sync.Mutex
	byID map[string][]cri.ContainerEventType
	err  error
}

func (c *checker) watchEvents() {
	received := make(chan *cri.ContainerEventResponse, 100)
	established := make(chan struct{})
	go func() {
		err := c.runtime.GetContainerEvents(c.ctx, received, func(cri.RuntimeService_GetContainerEventsClient) {
			close(established)
		})
		c.events.Lock()
		c.events.err = err
		c.events.Unlock()
	}()
	go func() {
		for e := range received {
			c.events.Lock()
			c.events.byID[e.ContainerId] = append(c.events.byID[e.ContainerId], e.ContainerEventType)
			c.events.Unlock()
		}
	}()
	select {
	case <-established:
		// The stream exists on this side; the runtime registers the listener shortly after.
		time.Sleep(300 * time.Millisecond)
	case <-time.After(5 * time.Second):
	}
}

func (c *checker) checkEvents(id string) {
	expected := []cri.ContainerEventType{
		cri.ContainerEventType_CONTAINER_CREATED_EVENT, cri.ContainerEventType_CONTAINER_STARTED_EVENT,
		cri.ContainerEventType_CONTAINER_STOPPED_EVENT, cri.ContainerEventType_CONTAINER_DELETED_EVENT,
	}
	c.call("GetContainerEvents", "all of one container, in order", func() (string, error) {
		var got []cri.ContainerEventType
		for range 100 {
			c.events.Lock()
			got = slices.Clone(c.events.byID[id])
			err := c.events.err
			c.events.Unlock()
			if err != nil {
				return "", err
			}
			if len(got) >= len(expected) {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
		return done(fmt.Sprint(got), want(slices.Equal(got, expected), "got %v, must be %v", got, expected))
	})
}
