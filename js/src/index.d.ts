/** A link: source word, target word (counted from 0), and the probability that it is right. */
export type Link = [source: number, target: number, probability: number];

/** The words of both sides as they were counted, their links in order, and how well the whole pair is linked, 0 to 1. */
export interface Alignment {
  source: string[];
  target: string[];
  links: Link[];
  score: number;
  /** How many words the model cannot read, if they are over a third of a side; probabilities are then lowered. */
  unknown: number;
}

/** What is not given is the model's own. */
export interface AlignOptions {
  /** Sentences are text that is not split into words yet. */
  raw?: boolean;
  /** With `raw`, a language code such as "de"; without one the script decides. */
  sourceLanguage?: string;
  targetLanguage?: string;
  method?: "softmax" | "entmax" | "geometric";
  /** Both directions must exceed it. */
  threshold?: number;
  /** The α of entmax. */
  alpha?: number;
  symmetrize?: "intersection" | "union" | "forward" | "backward";
  /** The similarity that a link must beat. */
  null?: number | "off";
}

/** The three files of a model. */
export interface ModelFiles {
  /** The bytes of `model.onnx`. */
  graph: Uint8Array | Promise<Uint8Array>;
  /** The contents of `tokenizer.json`. */
  tokenizer: unknown;
  /** The contents of `weft.json`. */
  settings: unknown;
}

/** What is needed of `onnxruntime-web`. */
export interface Runtime {
  env: { wasm: { numThreads?: number } };
  InferenceSession: { create(graph: Uint8Array, options?: { executionProviders?: string[] }): Promise<unknown> };
  Tensor: new (type: "int64", data: BigInt64Array, shape: number[]) => unknown;
}

export interface LoadOptions {
  /** The address of a folder with `model.onnx`, `tokenizer.json` and `weft.json`, or their contents. */
  model: string | URL | ModelFiles;
  /**
   * The module `onnxruntime-web` (its WebAssembly part is enough: `onnxruntime-web/wasm`), or a function that loads it. It runs
   * the graphs that weft's own encoder cannot run; for weft's built-in models it is not needed.
   */
  runtime?: Runtime | Promise<Runtime> | (() => Runtime | Promise<Runtime>);
  /** Those of `onnxruntime-web`. More than one needs a page that is cross-origin isolated. */
  threads?: number;
  name?: string;
}

export declare class Aligner {
  static load(options: LoadOptions): Promise<Aligner>;
  readonly name: string;
  /** Align one pair: strings of words separated by blanks, or lists of words; with `raw` any text. */
  align(source: string | string[], target: string | string[], options?: AlignOptions): Promise<Alignment>;
  /** Align several pairs; the result has their order and number. */
  alignBatch(
    pairs: Iterable<[source: string | string[], target: string | string[]]>,
    options?: AlignOptions,
  ): Promise<Alignment[]>;
}

/** The words of a text. */
export declare function segment(text: string, language?: string): string[];
