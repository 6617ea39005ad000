import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CpuRates } from '../../../actors/resources/stats/cpu-rates.ts';

const cpu = (usageNs: number) => ({
  ...{ usageNs, userNs: 0, systemNs: 0, periods: 0, throttledPeriods: 0, throttledNs: 0 },
  ...{ shares: 2, quotaUs: null, periodUs: 100_000 },
});

describe('rates of cpu use', () => {
  it('need two readings, and count ns for each second', () => {
    const rates = new CpuRates();
    assert.equal(rates.take('/a', { at: 1000, cpu: cpu(5e9) }), undefined);
    assert.equal(rates.take('/a', { at: 1150, cpu: cpu(5e9 + 15e6) }), 1e8);
    assert.equal(rates.take('/b', { at: 1150, cpu: cpu(5e9) }), undefined, 'another cgroup');
  });

  it('keep the former rate within a second, and its base', () => {
    const rates = new CpuRates();
    rates.take('/a', { at: 0, cpu: cpu(0) });
    assert.equal(rates.take('/a', { at: 1000, cpu: cpu(1e9) }), 1e9);
    assert.equal(rates.take('/a', { at: 1900, cpu: cpu(1e9) }), 1e9, 'too soon for another');
    assert.equal(rates.take('/a', { at: 2000, cpu: cpu(1.5e9) }), 5e8, 'from the base of 1000 on');
  });

  it('want more than some ms', () => {
    const rates = new CpuRates();
    rates.take('/a', { at: 0, cpu: cpu(0) });
    assert.equal(rates.take('/a', { at: 20, cpu: cpu(1e9) }), undefined);
    assert.equal(rates.take('/a', { at: 100, cpu: cpu(1e8) }), 1e9);
  });

  it('start anew after a counter that went back, a clock that went back, and a long pause', () => {
    const rates = new CpuRates();
    rates.take('/a', { at: 0, cpu: cpu(10) });
    assert.equal(rates.take('/a', { at: 1000, cpu: cpu(9) }), undefined);
    assert.equal(rates.take('/a', { at: 500, cpu: cpu(9) }), undefined);
    assert.equal(rates.take('/a', { at: 121_000, cpu: cpu(9) }), undefined);
    assert.equal(rates.take('/a', { at: 122_000, cpu: cpu(9) }), 0);
  });

  it('forget cgroups that nobody asks for', () => {
    const rates = new CpuRates();
    rates.take('/a', { at: 0, cpu: cpu(0) });
    rates.take('/b', { at: 100_000, cpu: cpu(0) });
    rates.forget(120_000);
    assert.equal(rates.size, 2);
    rates.forget(120_001);
    assert.equal(rates.size, 1);
    assert.equal(rates.take('/c', { at: 0 }), undefined, 'nothing without a counter');
    assert.equal(rates.size, 1);
  });
});
