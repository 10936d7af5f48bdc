// Measures evaluations of the network per second, with one position at a time, and simulations of a search per second with
// one and with several threads: `node speed.mjs [SECONDS [THREADS]]`.
// Natively, `kosumi bench --model small.bin.gz --batch 1` measures the same positions.
import { Kosumi, supportsRelaxedSimd } from "kosumi";

const milliseconds = 1000 * Number(process.argv[2] ?? 2);
for (const isRelaxed of supportsRelaxedSimd() ? [false, true] : [false]) {
  const kosumi = await Kosumi.create({ isRelaxed });
  const kernels = isRelaxed ? ["relaxed-simd"] : ["portable", "simd128"];
  for (const kernel of kernels) {
    for (const precision of ["f32", "int8"]) {
      const speeds = [9, 13, 19].map((size) => kosumi.speed({ size, milliseconds, kernel, precision }));
      const numbers = speeds.map((it) => it.evaluationsPerSecond.toFixed(0).padStart(8));
      console.log(`${speeds[0].arithmetic.padEnd(20)} 9x9, 13x13, 19x19: ${numbers.join("")}`);
    }
  }
}

const most = Number(process.argv[3] ?? 2);
for (const size of [9, 19]) {
  for (const threads of [1, most]) {
    const kosumi = await Kosumi.create({ threads });
    kosumi.setPosition({ size });
    // The first simulations include preparations.
    const before = (await kosumi.analyse({ visits: 16 * threads })).visits;
    const start = performance.now();
    const { visits } = await kosumi.analyse({ milliseconds });
    const perSecond = (1000 * (visits - before)) / (performance.now() - start);
    console.log(`${size}x${size}, ${threads} threads: ${perSecond.toFixed(0).padStart(8)} simulations per second`);
    kosumi.close();
  }
}
