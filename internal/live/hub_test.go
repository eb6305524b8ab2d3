package live_test

import (
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/podproof/podproof/internal/live"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// taken counts the marks that wait in a channel.
func taken(marks <-chan struct{}) int {
	for n := 0; ; n++ {
		select {
		case _, ok := <-marks:
			if !ok {
				return n
			}
		default:
			return n
		}
	}
}

func TestManyMarksAreOneForWhoIsSlow(t *testing.T) {
	var hub live.Hub[string]
	slow, stopSlow := hub.Subscribe("a")
	defer stopSlow()
	quick, stopQuick := hub.Subscribe("a")
	defer stopQuick()
	other, stopOther := hub.Subscribe("b")
	defer stopOther()
	for range 100 {
		hub.Mark("a") // returns though nobody takes from slow
		if n := taken(quick); n != 1 {
			t.Fatalf("%d marks", n)
		}
	}
	if n := taken(slow); n != 1 {
		t.Errorf("%d marks wait for the slow one", n)
	}
	if n := taken(other); n != 0 {
		t.Errorf("another key has %d marks", n)
	}
}

func TestAMarkAfterTheLastLookIsNeverLost(t *testing.T) {
	var hub live.Hub[int]
	marks, stop := hub.Subscribe(1)
	defer stop()
	const most = 1000
	var state sync.Mutex
	now := 0
	go func() {
		for range most {
			state.Lock()
			now++
			state.Unlock()
			hub.Mark(1)
		}
	}()
	for seen := 0; seen < most; {
		<-marks
		state.Lock()
		seen = now
		state.Unlock()
	}
}

func TestSubscriptionsEnd(t *testing.T) {
	var hub live.Hub[string]
	marks, stop := hub.Subscribe("a")
	_, stopOther := hub.Subscribe("a")
	stopOther()
	stopOther()
	if !hub.Followed("a") || hub.Followed("b") {
		t.Error("who follows what is mixed up")
	}
	stop()
	hub.Mark("a")
	if hub.Followed("a") || taken(marks) != 0 {
		t.Error("a stopped subscription goes on")
	}

	marks, stop = hub.Subscribe("a")
	hub.Close()
	hub.Close()
	hub.Mark("a")
	if _, ok := <-marks; ok {
		t.Error("Close marks instead of ending")
	}
	stop()
	late, stop := hub.Subscribe("a")
	if _, ok := <-late; ok {
		t.Error("a late subscription did not end at once")
	}
	stop()
}

func TestManyComeAndGoAtOnce(t *testing.T) {
	var hub live.Hub[int]
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			for range 100 {
				_, stop := hub.Subscribe(i % 3)
				hub.Mark(i % 3)
				stop()
			}
		})
	}
	wg.Wait()
	for key := range 3 {
		if hub.Followed(key) {
			t.Errorf("key %d is still followed", key)
		}
	}
	hub.Close()
}
