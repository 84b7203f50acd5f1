/** The shared worker: one for all tabs of a browser. */
import { Hub } from '#lib/stream/hub.ts';
import type { HubMessage, TabMessage } from '#lib/stream/messages.ts';

const hub = new Hub();

addEventListener('connect', (event) => {
	const port = (event as MessageEvent).ports[0];
	if (!port) return;
	const tab = { send: (message: HubMessage) => port.postMessage(message) };
	port.onmessage = (message: MessageEvent<TabMessage>) => hub.take(tab, message.data);
	// A tab that crashed says no farewell.
	port.addEventListener('close', () => hub.take(tab, { kind: 'bye' }));
	port.start();
});
