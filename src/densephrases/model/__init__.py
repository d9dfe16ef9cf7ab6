"""The encoders: what they are (`config`), how text enters (`tokens`), how vectors leave (`encoder`).

`network`, `questions`, `adapted`, `restore`, `checkpoint`, `export` and `original` need torch (the extra `train`);
everything else does not.
"""
