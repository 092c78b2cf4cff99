/** What autograd says where the history that a backward pass needs is lost. */
export const REFUSED: RegExp = /modified by an inplace operation|backward through the graph a second time/;
