// SPDX-License-Identifier: Apache-2.0
#include "plainc.h"

#include <stdlib.h>
#include <uv.h>

typedef struct {
    uint64_t deadline;
    uint32_t slot;
} entry_t;

typedef struct {
    void (*fired)(void *context);
    void *context;
    uint32_t place;
} timer_slot_t;

typedef struct {
    uv_loop_t loop;
    uv_timer_t timer;
    entry_t *entries;
    timer_slot_t *slots;
    size_t count;
} heap_t;

static void put(heap_t *heap, entry_t entry, size_t place) {
    heap->entries[place] = entry;
    heap->slots[entry.slot].place = (uint32_t)place;
}

static void sift_up(heap_t *heap, size_t place, entry_t entry) {
    while (place > 0) {
        size_t parent = (place - 1) / 4;
        if (entry.deadline >= heap->entries[parent].deadline) break;
        put(heap, heap->entries[parent], place);
        place = parent;
    }
    put(heap, entry, place);
}

static void sift_down(heap_t *heap, size_t place, entry_t entry) {
    for (;;) {
        size_t first = 4 * place + 1, least = first;
        if (first >= heap->count) break;
        size_t end = first + 4 < heap->count ? first + 4 : heap->count;
        for (size_t child = first + 1; child < end; child++)
            if (heap->entries[child].deadline < heap->entries[least].deadline) least = child;
        if (heap->entries[least].deadline >= entry.deadline) break;
        put(heap, heap->entries[least], place);
        place = least;
    }
    put(heap, entry, place);
}

static void take_out(heap_t *heap, size_t place) {
    entry_t last = heap->entries[--heap->count];
    if (place == heap->count) return;
    if (place > 0 && last.deadline < heap->entries[(place - 1) / 4].deadline) sift_up(heap, place, last);
    else sift_down(heap, place, last);
}

static void set_timer(heap_t *heap);

static void timer_fired(uv_timer_t *timer) {
    heap_t *heap = timer->data;
    uint64_t now = uv_hrtime();
    while (heap->count && heap->entries[0].deadline <= now) {
        timer_slot_t *slot = &heap->slots[heap->entries[0].slot];
        take_out(heap, 0);
        slot->fired(slot->context);
    }
    set_timer(heap);
}

static void set_timer(heap_t *heap) {
    if (!heap->count) {
        uv_timer_stop(&heap->timer);
        return;
    }
    uv_update_time(&heap->loop);
    uint64_t due = (heap->entries[0].deadline + 999999) / 1000000, now = uv_now(&heap->loop);
    uv_timer_start(&heap->timer, timer_fired, due > now ? due - now : 0, 0);
}

static int begin(heap_t *heap, size_t count) {
    heap->count = 0;
    heap->entries = malloc(count * sizeof *heap->entries);
    heap->slots = malloc(count * sizeof *heap->slots);
    if (!heap->entries || !heap->slots || uv_loop_init(&heap->loop)) return 0;
    uv_timer_init(&heap->loop, &heap->timer);
    heap->timer.data = heap;
    return 1;
}

static void end(heap_t *heap) {
    uv_close((uv_handle_t *)&heap->timer, NULL);
    uv_run(&heap->loop, UV_RUN_DEFAULT);
    uv_loop_close(&heap->loop);
    free(heap->entries);
    free(heap->slots);
}

static void hit(void *context) { ++*(size_t *)context; }

// As a caller would, each timer reads the clock for itself.
static void arm_all(heap_t *heap, size_t count, uint64_t span, uint64_t offset, size_t *hits) {
    uint64_t state = plain_seed;
    for (size_t i = 0; i < count; i++) {
        heap->slots[i] = (timer_slot_t){.fired = hit, .context = hits};
        entry_t entry = {uv_hrtime() + offset + plain_next_delay(&state, span), (uint32_t)i};
        uint64_t before = heap->count ? heap->entries[0].deadline : UINT64_MAX;
        sift_up(heap, heap->count++, entry);
        if (entry.deadline < before) set_timer(heap);
    }
}

size_t plain_heap_pending(size_t count, uint64_t span) {
    heap_t heap;
    size_t hits = 0;
    if (!begin(&heap, count)) return 0;
    arm_all(&heap, count, span, 0, &hits);
    uv_run(&heap.loop, UV_RUN_DEFAULT);
    end(&heap);
    return hits;
}

size_t plain_heap_cancelled(size_t count, uint64_t span, size_t times) {
    heap_t heap;
    size_t hits = 0;
    if (!begin(&heap, count)) return 0;
    for (size_t round = 0; round < times; round++) {
        arm_all(&heap, count, span, 3600ull * 1000000000, &hits);
        for (size_t i = 0; i < count; i++) take_out(&heap, heap.slots[i].place);
        set_timer(&heap);
    }
    end(&heap);
    return hits ? 0 : count * times;
}
