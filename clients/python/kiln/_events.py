"""_events.py: what pyopencl's arrays must wait for, and say when they are done."""
import ctypes

import pyopencl as cl


def waits(wait_for, *holders):
    """The handles of all events that a call waits for, each once, as kiln.h takes them.

    holders: arrays, of which `events` count; Packs, of which `event` does; None.
    """
    events = list(wait_for or ())
    for holder in holders:
        events += getattr(holder, 'events', ())
        if getattr(holder, 'event', None) is not None:
            events.append(holder.event)
    for event in events:
        if not isinstance(event, cl.Event):
            raise TypeError(f'wait_for holds a {type(event).__name__}: it is a list of '
                            'pyopencl.Event')
    handles = list(dict.fromkeys(event.int_ptr for event in events))
    array = (ctypes.c_void_p * len(handles))(*handles)
    array.events = events                    # another thread may take them from their array
    return array


def event_of(handle):
    """pyopencl's event, which releases the handle."""
    return cl.Event.from_int_ptr(handle, retain=False)
