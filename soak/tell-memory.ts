// Loaded into the gateway's process before the gateway: tells how much memory is in use after garbage was collected, so
// that a leak shows within minutes. The gateway knows nothing of it.
process.on('message', () => {
  globalThis.gc?.();
  const { heapUsed, heapTotal, external, rss } = process.memoryUsage();
  process.send?.({ heapUsed, heapTotal, external, rss });
});
process.channel?.unref();
// A soak that is killed takes its gateway with it.
process.once('disconnect', () => process.exit(1));
